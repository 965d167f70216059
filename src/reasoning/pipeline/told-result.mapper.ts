import { parseImage } from '../../common/index.js';
import type { ToldImage, ToolCompleted } from '../../run/index.js';
import type { ToolResult } from '../../tool/index.js';

type Told = Omit<ToolCompleted, 'type' | 'iteration' | 'call_id'>;

/** A result as events tell it: with what its images are, in place of them. */
export function toldResult(result: ToolResult): Told {
  if (!result.success) return result;
  const { images, ...told } = result;
  return { ...told, ...(images && { images: images.map(toldImage) }) };
}

function toldImage(url: string): ToldImage {
  const image = parseImage(url);
  if (typeof image === 'string' || image.kind === 'url') return { url };
  return { media_type: image.mediaType, bytes: image.bytes };
}
