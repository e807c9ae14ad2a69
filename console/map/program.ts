/** A program of the graphics processor with the one buffer that it reads. */
export class Program {
  readonly buffer: WebGLBuffer;
  readonly #gl: WebGL2RenderingContext;
  readonly #program: WebGLProgram;
  readonly #attributes: WebGLVertexArrayObject;
  readonly #places = new Map<string, WebGLUniformLocation | null>();

  /** `layout` tells how the buffer is read, while it is bound. Throws where the shaders don't compile. */
  constructor(gl: WebGL2RenderingContext, vertex: string, fragment: string, layout: () => void) {
    this.#gl = gl;
    this.#program = gl.createProgram();
    for (const [type, text] of [
      [gl.VERTEX_SHADER, vertex],
      [gl.FRAGMENT_SHADER, fragment],
    ] as const) {
      const shader = gl.createShader(type);
      if (shader === null) throw new Error("the graphics context is lost");
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "shader");
      gl.attachShader(this.#program, shader);
    }
    gl.linkProgram(this.#program);
    this.buffer = gl.createBuffer();
    this.#attributes = gl.createVertexArray();
    gl.bindVertexArray(this.#attributes);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    layout();
    gl.bindVertexArray(null);
  }

  use(): void {
    this.#gl.useProgram(this.#program);
    this.#gl.bindVertexArray(this.#attributes);
  }

  /** The place of a uniform. */
  at(name: string): WebGLUniformLocation | null {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const found = this.#gl.getUniformLocation(this.#program, name);
    this.#places.set(name, found);
    return found;
  }

  remove(): void {
    this.#gl.deleteProgram(this.#program);
    this.#gl.deleteBuffer(this.buffer);
    this.#gl.deleteVertexArray(this.#attributes);
  }
}
