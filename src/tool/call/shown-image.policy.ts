import { imageBytes, MAX_IMAGES } from '../../common/index.js';
import type { ToolResult } from '../tool.types.js';

/** The parts of a result that its images are. */
export type ShownImages = Pick<Extract<ToolResult, { success: true }>, 'images' | 'images_left_out'>;

/** A result with as many of these images as it may have; a failed one has none. @param maxBytes of all that are data */
export function illustrated<Call extends { readonly result: ToolResult }>(
  call: Call,
  images: readonly string[],
  maxBytes: number,
): Call {
  if (images.length === 0 || !call.result.success) return call;
  let bytes = 0;
  const shown = images.slice(0, MAX_IMAGES).filter((url) => {
    const added = imageBytes(url);
    if (bytes + added > maxBytes) return false;
    bytes += added;
    return true;
  });
  return { ...call, result: { ...call.result, ...toShown(shown, images.length - shown.length) } };
}

/** The images of a result, for another one that takes its place. */
export function imagesOf(result: ToolResult): ShownImages {
  return result.success ? toShown(result.images ?? [], result.images_left_out ?? 0) : {};
}

function toShown(images: readonly string[], leftOut: number): ShownImages {
  return { ...(images.length > 0 && { images }), ...(leftOut > 0 && { images_left_out: leftOut }) };
}
