/** One point a device. It slides from where it was to where it is; its look is drawn by the fragment shader. */
export const spriteVertex = `#version 300 es
layout(location = 0) in vec4 a_move;
layout(location = 1) in float a_since;
layout(location = 2) in uvec4 a_look;
uniform mat4 u_matrix;
uniform float u_now;
uniform float u_slide;
uniform float u_size;
flat out uint v_state;
flat out vec2 v_turn;
void main() {
  float part = u_slide > 0.0 ? clamp((u_now - a_since) / u_slide, 0.0, 1.0) : 1.0;
  gl_Position = u_matrix * vec4(mix(a_move.xy, a_move.zw, part), 0.0, 1.0);
  gl_PointSize = u_size;
  v_state = a_look.x;
  float angle = float(a_look.y) * 6.2831853 / 256.0;
  v_turn = vec2(cos(angle), sin(angle));
}`;

/**
 * Distances to the outline of each shape, inside below 0: an arrow, a ring with a dot, a square, a triangle, a hollow
 * circle with a cross.
 */
export const spriteFragment = `#version 300 es
precision highp float;
flat in uint v_state;
flat in vec2 v_turn;
uniform vec3 u_colours[5];
uniform vec3 u_ground;
uniform float u_size;
uniform bool u_halo;
out vec4 colour;

float segment(vec2 p, vec2 a, vec2 b) {
  vec2 pa = p - a, ba = b - a;
  return length(pa - ba * clamp(dot(pa, ba) / dot(ba, ba), 0.0, 1.0));
}
float polygon(vec2 p, vec2 v[4]) {
  float d = dot(p - v[0], p - v[0]);
  float s = 1.0;
  for (int i = 0, j = 3; i < 4; j = i, i++) {
    vec2 e = v[j] - v[i];
    vec2 w = p - v[i];
    vec2 b = w - e * clamp(dot(w, e) / dot(e, e), 0.0, 1.0);
    d = min(d, dot(b, b));
    bvec3 c = bvec3(p.y >= v[i].y, p.y < v[j].y, e.x * w.y > e.y * w.x);
    if (all(c) || all(not(c))) s = -s;
  }
  return s * sqrt(d);
}
float shape(vec2 p, vec2 turned) {
  float r = length(p);
  if (v_state == 0u) return polygon(turned, vec2[4](vec2(0.0, -0.78), vec2(0.58, 0.62), vec2(0.0, 0.32), vec2(-0.58, 0.62)));
  if (v_state == 1u) return min(abs(r - 0.52) - 0.13, r - 0.2);
  if (v_state == 2u) return max(abs(p.x), abs(p.y)) - 0.48;
  if (v_state == 3u) return polygon(p, vec2[4](vec2(0.0, -0.74), vec2(0.76, 0.6), vec2(0.0, 0.6), vec2(-0.76, 0.6)));
  return min(abs(r - 0.55) - 0.09, min(segment(p, vec2(-0.3), vec2(0.3)), segment(p, vec2(-0.3, 0.3), vec2(0.3, -0.3))) - 0.08);
}
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float pixel = 2.0 / u_size;
  if (u_halo) {
    float ring = abs(length(p) - 0.85) - 0.1;
    float cover = 1.0 - smoothstep(-pixel, pixel, ring);
    colour = vec4(u_colours[0], 1.0) * cover;
    return;
  }
  vec2 turned = vec2(p.x * v_turn.x + p.y * v_turn.y, p.y * v_turn.x - p.x * v_turn.y);
  float d = shape(p, turned);
  float whole = 1.0 - smoothstep(-pixel, pixel, d - 0.17);
  float inside = 1.0 - smoothstep(-pixel * 0.7, pixel * 0.7, d);
  vec3 fill = u_colours[v_state];
  // An alert's triangle has a mark in it, so that it is told from a turned square at a glance.
  if (v_state == 3u && abs(p.x) < 0.09 && p.y > -0.25 && p.y < 0.45 && !(p.y > 0.2 && p.y < 0.28)) fill = u_ground;
  colour = vec4(mix(u_ground, fill, inside), 1.0) * whole;
}`;

/** One point a bubble. */
export const bubbleVertex = `#version 300 es
layout(location = 0) in vec4 a_place;
layout(location = 1) in vec4 a_shares;
uniform mat4 u_matrix;
uniform float u_ratio;
flat out vec4 v_shares;
flat out float v_alert;
flat out float v_size;
void main() {
  gl_Position = u_matrix * vec4(a_place.xy, 0.0, 1.0);
  v_size = (a_place.z + 3.0) * 2.0 * u_ratio;
  gl_PointSize = v_size;
  v_shares = a_shares;
  v_alert = a_place.w;
}`;

/**
 * A disc in the ground's colour with a ring of the states' shares; a mark at its upper right where an alert is inside.
 */
export const bubbleFragment = `#version 300 es
precision highp float;
flat in vec4 v_shares;
flat in float v_alert;
flat in float v_size;
uniform vec3 u_colours[5];
uniform vec3 u_ground;
out vec4 colour;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float pixel = 2.0 / v_size;
  float r = length(p);
  // Without a graphics processor each of these pixels is work: most of them are outside of the ring.
  if (r > 0.92 + pixel && v_alert < 0.5) discard;
  vec3 fill = u_ground;
  if (r > 0.68 - pixel) {
    float at = fract(atan(p.x, -p.y) / 6.2831853 + 1.0);
    int state = at < v_shares.x ? 0 : at < v_shares.y ? 1 : at < v_shares.z ? 2 : at < v_shares.w ? 3 : 4;
    float ring = smoothstep(-pixel, pixel, r - 0.68) * (1.0 - smoothstep(-pixel, pixel, r - 0.86));
    fill = mix(u_ground, u_colours[state], ring);
  }
  float cover = 1.0 - smoothstep(-pixel, pixel, r - 0.92);
  if (v_alert > 0.5) {
    float mark = length(p - vec2(0.62, -0.62));
    fill = mix(fill, u_ground, 1.0 - smoothstep(-pixel, pixel, mark - 0.32));
    fill = mix(fill, u_colours[3], 1.0 - smoothstep(-pixel, pixel, mark - 0.24));
    cover = max(cover, 1.0 - smoothstep(-pixel, pixel, mark - 0.32));
  }
  colour = vec4(fill, 1.0) * cover;
}`;
