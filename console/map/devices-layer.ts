import type { CustomLayerInterface, CustomRenderMethodInput, Map as LibreMap } from "maplibre-gl";
import { type Picture, radiusOf } from "../live/grid.ts";
import { type FleetStore, stride } from "../live/store.ts";
import { Program } from "./program.ts";
import { bubbleFragment, bubbleVertex, spriteFragment, spriteVertex } from "./shaders.ts";
import type { MapColours } from "./style.ts";

const spritePixels = 22;
const haloPixels = 38;
/** Frames a second while devices slide: enough for the eye, and half the work. */
const frameMs = 33;
/** Floats of a bubble: place, radius, alert; ends of the first four states' shares. */
const bubbleFloats = 8;
/** Nearer to the origin than this, floats are good for a tenth of a pixel at any zoom. */
const farFromOrigin = 0.002;

/** Draws the devices of a fleet straight from its typed arrays, and bubbles where they are many. */
export class DevicesLayer implements CustomLayerInterface {
  readonly id = "devices";
  readonly type = "custom";
  readonly #store: FleetStore;
  readonly #colours: MapColours;
  #map: LibreMap | undefined;
  #sprites: Program | undefined;
  #bubbles: Program | undefined;
  #indexes: WebGLBuffer | null = null;
  #allocated = 0;
  #picture: Picture = { singles: new Uint32Array(0), bubbles: [], inView: 0 };
  #pictureChanged = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Row of the device that is marked. */
  selected: number | undefined;

  constructor(store: FleetStore, colours: MapColours) {
    this.#store = store;
    this.#colours = colours;
  }

  onAdd(map: LibreMap, gl: WebGL2RenderingContext): void {
    this.#map = map;
    this.#allocated = 0;
    this.#sprites = new Program(gl, spriteVertex, spriteFragment, () => {
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 4, gl.FLOAT, false, stride, 0);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 1, gl.FLOAT, false, stride, 16);
      gl.enableVertexAttribArray(2);
      gl.vertexAttribIPointer(2, 4, gl.UNSIGNED_BYTE, stride, 20);
    });
    this.#bubbles = new Program(gl, bubbleVertex, bubbleFragment, () => {
      for (const at of [0, 1]) {
        gl.enableVertexAttribArray(at);
        gl.vertexAttribPointer(at, 4, gl.FLOAT, false, bubbleFloats * 4, at * 16);
      }
    });
    this.#indexes = gl.createBuffer();
  }

  onRemove(_map: LibreMap, gl: WebGL2RenderingContext): void {
    clearTimeout(this.#timer);
    this.#sprites?.remove();
    this.#bubbles?.remove();
    gl.deleteBuffer(this.#indexes);
    this.#map = undefined;
  }

  /** Shows another picture from the next frame on. */
  show(picture: Picture): void {
    this.#picture = picture;
    this.#pictureChanged = true;
    this.#map?.triggerRepaint();
  }

  render(gl: WebGL2RenderingContext, { defaultProjectionData }: CustomRenderMethodInput): void {
    this.#rebase();
    const matrix = movedBy(defaultProjectionData.mainMatrix, this.#store.originX, this.#store.originY);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.disable(gl.DEPTH_TEST);
    this.#drawSprites(gl, matrix);
    this.#drawBubbles(gl, matrix);
    gl.bindVertexArray(null);
    this.#pictureChanged = false;
    this.#drawAgainWhileMoving();
  }

  #rebase(): void {
    const map = this.#map;
    if (map === undefined || map.getZoom() < 12) return;
    const { lng, lat } = map.getCenter();
    const x = (lng + 180) / 360;
    const y = 0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI);
    const { originX, originY } = this.#store;
    if (Math.hypot(x - originX, y - originY) < farFromOrigin) return;
    this.#store.rebase(x, y);
    this.#pictureChanged = true;
  }

  #drawSprites(gl: WebGL2RenderingContext, matrix: Float32Array): void {
    const program = this.#sprites;
    if (program === undefined) return;
    program.use();
    this.#upload(gl, program);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.#indexes);
    if (this.#pictureChanged) gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, this.#picture.singles, gl.DYNAMIC_DRAW);
    this.#setCommon(gl, program, matrix);
    gl.uniform1f(program.at("u_now"), this.#store.seconds(Date.now()));
    gl.uniform1f(program.at("u_slide"), this.#store.slideSeconds);
    const ratio = devicePixelRatio;
    gl.uniform1i(program.at("u_halo"), 0);
    gl.uniform1f(program.at("u_size"), spritePixels * ratio);
    gl.drawElements(gl.POINTS, this.#picture.singles.length, gl.UNSIGNED_INT, 0);
    if (this.selected === undefined || !this.#store.isPlaced(this.selected)) return;
    gl.uniform1f(program.at("u_size"), spritePixels * ratio);
    gl.drawArrays(gl.POINTS, this.selected, 1);
    gl.uniform1i(program.at("u_halo"), 1);
    gl.uniform1f(program.at("u_size"), haloPixels * ratio);
    gl.drawArrays(gl.POINTS, this.selected, 1);
  }

  /** Only the rows that changed go to the graphics processor. */
  #upload(gl: WebGL2RenderingContext, program: Program): void {
    const { bytes, dirtyFrom, dirtyTo } = this.#store;
    gl.bindBuffer(gl.ARRAY_BUFFER, program.buffer);
    if (this.#allocated !== bytes.length) {
      gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW);
      this.#allocated = bytes.length;
    } else if (dirtyFrom < dirtyTo) {
      const from = dirtyFrom * stride;
      gl.bufferSubData(gl.ARRAY_BUFFER, from, bytes, from, (dirtyTo - dirtyFrom) * stride);
    }
    this.#store.taken();
  }

  #drawBubbles(gl: WebGL2RenderingContext, matrix: Float32Array): void {
    const program = this.#bubbles;
    const { bubbles } = this.#picture;
    if (program === undefined || bubbles.length === 0) return;
    program.use();
    if (this.#pictureChanged) {
      gl.bindBuffer(gl.ARRAY_BUFFER, program.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, bubbleData(this.#picture, this.#store), gl.DYNAMIC_DRAW);
    }
    this.#setCommon(gl, program, matrix);
    gl.uniform1f(program.at("u_ratio"), devicePixelRatio);
    gl.drawArrays(gl.POINTS, 0, bubbles.length);
  }

  #setCommon(gl: WebGL2RenderingContext, program: Program, matrix: Float32Array): void {
    gl.uniformMatrix4fv(program.at("u_matrix"), false, matrix);
    gl.uniform3fv(program.at("u_colours"), this.#colours.states.flatMap(channels));
    gl.uniform3fv(program.at("u_ground"), channels(this.#colours.ground));
  }

  #drawAgainWhileMoving(): void {
    if (this.#timer !== undefined || document.hidden || this.#picture.singles.length === 0) return;
    if (this.#store.seconds(Date.now()) > this.#store.movesUntil) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#map?.triggerRepaint();
    }, frameMs);
  }
}

function bubbleData({ bubbles }: Picture, { originX, originY }: FleetStore): Float32Array {
  return Float32Array.from(
    bubbles.flatMap(({ x, y, count, states }) => {
      const [moving = 0, idling = 0, stopped = 0, alert = 0] = states.map((share) => share / count);
      const ends = [moving, moving + idling, moving + idling + stopped, moving + idling + stopped + alert];
      return [x - originX, y - originY, radiusOf(count), alert > 0 ? 1 : 0, ...ends];
    }),
  );
}

/**
 * A matrix that takes places less an origin. The sum is made in double: at street zoom a float's error would be pixels.
 */
function movedBy(matrix: ArrayLike<number>, x: number, y: number): Float32Array {
  const at = (index: number) => matrix[index] ?? 0;
  const moved = Float32Array.from(matrix);
  for (const row of [0, 1, 2, 3]) moved[12 + row] = at(row) * x + at(4 + row) * y + at(12 + row);
  return moved;
}

/** Red, green and blue of "#rrggbb", 0 to 1. */
function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
}
