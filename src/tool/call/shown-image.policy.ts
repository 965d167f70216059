import { MAX_IMAGES, parseImage } from '../../kernel/index.js';
import type { ToolResult } from '../tool.types.js';

/** Image fields of a result. */
export type ShownImages = Pick<Extract<ToolResult, { success: true }>, 'images' | 'images_left_out'>;

/**
 * Adds images to a result, each with the media type of its bytes. Images beyond the limits and invalid images are left
 * out; a failed result stays unchanged.
 * @param maxBytes maximum size of all data-URI images together, decoded
 */
export function illustrated<Call extends { readonly result: ToolResult }>(
  call: Call,
  images: readonly string[],
  maxBytes: number,
): Call {
  if (images.length === 0 || !call.result.success) return call;
  let bytes = 0;
  const shown: string[] = [];
  for (const url of images) {
    const image = parseImage(url);
    if (typeof image === 'string' || shown.length === MAX_IMAGES) continue;
    const added = image.kind === 'data' ? image.bytes : 0;
    if (bytes + added > maxBytes) continue;
    bytes += added;
    shown.push(image.url);
  }
  return { ...call, result: { ...call.result, ...toShown(shown, images.length - shown.length) } };
}

/** The image fields of a result, for its replacement. */
export function imagesOf(result: ToolResult): ShownImages {
  return result.success ? toShown(result.images ?? [], result.images_left_out ?? 0) : {};
}

function toShown(images: readonly string[], leftOut: number): ShownImages {
  return { ...(images.length > 0 && { images }), ...(leftOut > 0 && { images_left_out: leftOut }) };
}
