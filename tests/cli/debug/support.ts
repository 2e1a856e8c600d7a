/** A kernel that is debugged, and the bytes of requests. */
export const SCALE = `#pragma tri grid(cdiv(N, 32))
#pragma tri tensor X : in float[N]
#pragma tri tensor Y : out float[N]
#pragma tri num_warps=1

// Doubles.
__global__ void scale(float *X, float *Y, int N) {
  int r[32] = get_program_id(0) * 32 + 0 ... 32;
  float x[32] = *?(r < N) (X + r);
  *?(r < N) (Y + r) = x * 2;
}
`;

/** A request as it is on the wire. */
export function framed(seq: number, command: string, args: unknown): Uint8Array {
  const body = JSON.stringify({ seq, type: "request", command, arguments: args });
  const bytes = new TextEncoder().encode(body);
  const head = new TextEncoder().encode(`Content-Length: ${bytes.length}\r\n\r\n`);
  return new Uint8Array([...head, ...bytes]);
}
