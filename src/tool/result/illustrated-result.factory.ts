import { AppError } from '../../errors/index.js';
import { type parseBinaryText, parseImage } from '../../kernel/media/index.js';
import type { BinaryMark } from './json-result.mapper.js';

/** Text of a result for the model, where it differs from the value. */
export interface ShownText {
  /** A line before the text, such as headers of a reply. */
  readonly note?: string;
  /** Text in place of the value. */
  readonly text?: string;
}

/** A tool result with a text for the model. Workflows, output schemas and clients get the value only. */
export class ShownResult {
  constructor(
    readonly result: unknown,
    readonly shown: ShownText,
  ) {}
}

/** Binary content of a result, which may have a name or an address. */
export type BinaryPart = NonNullable<ReturnType<typeof parseBinaryText>> & { readonly name?: string };

/** Binary content in addition to the value of a result. */
export interface ResultContent {
  /** The value is the text of these parts, in lines; by default the value is `result`. */
  readonly text?: readonly (string | BinaryPart)[];
  /** Content beside the value. */
  readonly attached?: readonly BinaryPart[];
  /** Binary texts of the value. */
  readonly marks?: readonly BinaryMark[];
}

/**
 * Tool result with images, created by `withImages`, or with other binary content. A class, so that plain results cannot
 * be mistaken for it.
 */
export class IllustratedResult {
  constructor(
    readonly result: unknown,
    /** https URLs and data URIs. */
    readonly images: readonly string[],
    readonly content: ResultContent = {},
  ) {}
}

/**
 * A tool result with images. A model with vision sees them; another model gets a note. The bytes of an image determine
 * its media type. Bytes that are not an image are left out, with a note for the model.
 *
 *     return withImages({ title: 'Sales' }, [`data:image/png;base64,${png.toString('base64')}`]);
 *
 * @param images https URLs, which the model's provider fetches, or base64 data URIs (PNG, JPEG, GIF, WebP)
 * @throws AppError `TOOL_INVALID` for text that is neither a link nor a base64 data URI
 */
export function withImages(result: unknown, images: readonly string[]): IllustratedResult {
  for (const [at, url] of images.entries()) {
    const problem = typeof url === 'string' ? formProblem(url) : 'it must be text';
    if (problem !== null) throw new AppError('TOOL_INVALID', `withImages() got an image (${at}): ${problem}.`);
  }
  return new IllustratedResult(result, [...images]);
}

/** Mistake of the tool's code; `null` for a link or a base64 data URI, whatever its bytes are. */
function formProblem(url: string): string | null {
  const image = parseImage(url);
  return typeof image !== 'string' || /^\s*data:[^,]*;\s*base64\s*,/i.test(url) ? null : image;
}

/** Separates the value, the images and other binary content of a returned result. */
export function unfold(returned: unknown): {
  readonly value: unknown;
  readonly images: readonly string[];
  readonly content: ResultContent;
} {
  if (returned instanceof ShownResult) return unfold(returned.result);
  if (!(returned instanceof IllustratedResult)) return { value: returned, images: [], content: {} };
  return { value: returned.result, images: returned.images, content: returned.content };
}
