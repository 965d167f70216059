import type { ToolResult } from './tool.types.js';

/**
 * What the model reads of a result: a string as it is, another value as JSON, a failure as `Error: …`; and of images that it
 * cannot be shown, that there are some.
 */
export function toolResultText(result: ToolResult): string {
  if (!result.success) return `Error: ${result.error}`;
  const text = typeof result.result === 'string' ? result.result : JSON.stringify(result.result);
  const { images_left_out: leftOut } = result;
  return leftOut === undefined
    ? text
    : `${text}\n[Not shown, as too many, too large or unreadable: ${counted(leftOut)}]`;
}

function counted(images: number): string {
  return images === 1 ? '1 image' : `${images} images`;
}
