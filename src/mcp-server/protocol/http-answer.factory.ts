/** An answer that is an error of JSON-RPC, of no request in particular. */
export function errorResponse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
