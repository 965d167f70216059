import { AppError, parseImage } from '../common/index.js';

/** What a tool returns that shows something: made by `withImages`, and a class, so that no other result is taken for it. */
export class IllustratedResult {
  constructor(
    readonly result: unknown,
    /** https URLs and data URIs. */
    readonly images: readonly string[],
  ) {}
}

/**
 * A tool's result with images beside it: a model that sees is shown them, another one is told that there are some.
 *
 *     return withImages({ title: 'Sales' }, [`data:image/png;base64,${png.toString('base64')}`]);
 *
 * @param images https URLs, which the model's provider fetches, or data URIs of a PNG, JPEG, GIF or WebP in base64
 * @throws AppError `TOOL_INVALID` for what is neither
 */
export function withImages(result: unknown, images: readonly string[]): IllustratedResult {
  for (const [at, url] of images.entries()) {
    const image = typeof url === 'string' ? parseImage(url) : 'it must be text';
    if (typeof image === 'string') throw new AppError('TOOL_INVALID', `withImages() got an image (${at}): ${image}.`);
  }
  return new IllustratedResult(result, [...images]);
}

/** What a tool returned, apart. */
export function unfold(returned: unknown): { readonly value: unknown; readonly images: readonly string[] } {
  if (!(returned instanceof IllustratedResult)) return { value: returned, images: [] };
  return { value: returned.result, images: returned.images };
}
