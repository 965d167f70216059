import { cutText } from '../../tool/result/index.js';
import type { AnsweredNode, AnsweredTool, RunAnswer } from './run-answer.types.js';

/** Maximum size of an inline value, in bytes of UTF-8 JSON; a larger value is replaced by a link. */
const MAX_VALUE_BYTES = 16_384;
/** Maximum size of all inline values together, in bytes. */
const MAX_ALL_BYTES = 1_048_576;
const MAX_CUT_BYTES = 1000;

/**
 * The client form of a workflow run's answer: each value occurs once, and a large value is replaced by its size and a
 * link. The run's `output` stays complete. Answers of other runs are unchanged.
 */
export function shownAnswer(answer: RunAnswer): RunAnswer {
  if (!answer.nodes) return answer;
  const run = `/api/runs/${answer.run_id}`;
  const room = new Room();
  const nodes = answer.nodes.map((node) => shownNode(node, run, room));
  const gave = new Set(answer.nodes.filter((node) => node.output !== undefined).map(({ node }) => node));
  const tool_results = answer.tool_results.map((tool): AnsweredTool => {
    const { result, ...rest } = tool;
    if (tool.node !== undefined && gave.has(tool.node)) return rest;
    const bytes = bytesOf(result);
    return room.takes(bytes) ? tool : { ...rest, result_bytes: bytes, result_url: `${run}/journal` };
  });
  return { ...answer, result: shownText(answer), nodes, tool_results };
}

/** Remaining space of an answer. */
class Room {
  private left = MAX_ALL_BYTES;

  takes(bytes: number): boolean {
    if (bytes > MAX_VALUE_BYTES || bytes > this.left) return false;
    this.left -= bytes;
    return true;
  }
}

function shownNode(node: AnsweredNode, run: string, room: Room): AnsweredNode {
  const { output, ...rest } = node;
  const bytes = bytesOf(output);
  if (room.takes(bytes)) return node;
  return { ...rest, output_bytes: bytes, output_url: `${run}/node?name=${encodeURIComponent(node.node)}` };
}

/** A text result is the answer itself; of another value it is only the JSON text, and may be cut. */
function shownText({ result, output }: RunAnswer): string {
  const isCopy = output !== undefined && typeof output !== 'string';
  return isCopy && Buffer.byteLength(result) > MAX_VALUE_BYTES ? cutText(result, MAX_CUT_BYTES) : result;
}

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}
