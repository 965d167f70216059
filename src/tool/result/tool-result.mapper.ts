import { fileReference } from './result-files.builder.js';
import type { ToolResult } from '../tool.types.js';

/**
 * Text of a result: a string unchanged, another value as JSON, a failure as `Error: …`. Lines after it
 * refer to the files that the text does not mention, and state the number of images that are left out.
 */
export function toolResultText(result: ToolResult): string {
  if (!result.success) return `Error: ${result.error}`;
  const shown = typeof result.result === 'string' ? result.result : JSON.stringify(result.result);
  const unmentioned = result.files?.filter(({ n }) => !shown.includes(`[file ${n}: `)) ?? [];
  const text = [shown, ...unmentioned.map(fileReference)].join('\n');
  const { images_left_out: leftOut } = result;
  return leftOut === undefined
    ? text
    : `${text}\n[Not shown, as too many, too large or unreadable: ${counted(leftOut)}]`;
}

/** Text of a result for the model: its own text if it has one, with its note. */
export function modelText(result: ToolResult): string {
  if (!result.success) return toolResultText(result);
  const { note, text } = result;
  const shown = toolResultText(text === undefined ? result : { ...result, result: text });
  return note === undefined ? shown : `${note}\n${shown}`;
}

function counted(images: number): string {
  return images === 1 ? '1 image' : `${images} images`;
}
