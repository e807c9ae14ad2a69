import SerializerSelector from "@fastify/fast-json-stringify-compiler";

/** What Fastify asks for where it registers a route: a serialiser for each of its answers. */
type SerializerFactory = ReturnType<typeof SerializerSelector>;

/** Fastify's own. */
const build = SerializerSelector();

/**
 * Makes the serialiser of an answer when the answer is first given. All of them take half a second and some MB, while
 * one takes a millisecond or two, and most are never used: failures are written without.
 */
export const serializersAtFirstUse: SerializerFactory = (sharedSchemas, options) => (route) => {
  let serialize: ReturnType<ReturnType<SerializerFactory>> | undefined;
  return (answer) => {
    // A factory of its own: one that has met a shared schema as an answer forgets it as what others refer to.
    serialize ??= build(sharedSchemas, options)(route);
    return serialize(answer);
  };
};
