import type { ToolResult } from './tool.types.js';

/**
 * Text of a result for the model: a string unchanged, another value as JSON, a failure as `Error: …`. A note states the
 * number of images that are left out.
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
