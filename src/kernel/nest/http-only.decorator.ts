import { SetMetadata } from '@nestjs/common';

const HTTP_ONLY = 'jackdaw:http-only';

/** Marks an enhancer of Jackdaw that serves HTTP requests only: it never runs for tool calls. */
export const HttpOnly = (): ClassDecorator => SetMetadata(HTTP_ONLY, true);

export function isHttpOnly(enhancer: object): boolean {
  return Reflect.getMetadata(HTTP_ONLY, enhancer.constructor) === true;
}
