import { type A2aFault, toRpcError } from './a2a.error.js';
import type { ReplyForm } from './a2a-reply.service.js';
import type { StreamResponse } from './a2a.types.js';
import { toFormerFrame, toFormerResult } from './former-version.mapper.js';

/** The id of a request; `null` for a request without a valid one. */
export type RpcId = string | number | null;

/** JSON-RPC responses, also as the frames of a stream. */
export class RpcForm implements ReplyForm {
  readonly contentType = 'application/json; charset=utf-8';
  /** Whether the client speaks version 0.3. */
  isFormer = false;

  constructor(private readonly id: RpcId) {}

  result(result: object): object {
    return this.response(this.isFormer ? toFormerResult(result) : result);
  }

  frame(response: StreamResponse): object {
    return this.response(this.isFormer ? toFormerFrame(response) : response);
  }

  errorFrame(fault: A2aFault): string {
    return `data: ${JSON.stringify(this.error(fault))}\n\n`;
  }

  error(fault: A2aFault): object {
    return toRpcError(this.id, fault);
  }

  /** An error of the protocol is a response of JSON-RPC like any other. */
  statusOf({ isOurs, status }: A2aFault): number {
    return isOurs ? status : 200;
  }

  private response(result: object): object {
    return { jsonrpc: '2.0', id: this.id, result };
  }
}
