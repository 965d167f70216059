import { cutText } from '../tool/index.js';
import type { AnsweredNode, AnsweredTool, RunAnswer } from './agent.types.js';

/** Bytes of one value (UTF-8 JSON) that an answer has in its place; a larger one has a link there. */
const MAX_VALUE_BYTES = 16_384;
/** Bytes of all of them together. */
const MAX_ALL_BYTES = 1_048_576;
const MAX_CUT_BYTES = 1000;

/**
 * The answer of a workflow's run for a client: every value is in it once, and a large one has its size and a link in its
 * place. The run's own `output` is whole. Answers of other runs stay as they are.
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

/** The space of an answer. */
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

/** A text is the answer; of another value the text is only its JSON. */
function shownText({ result, output }: RunAnswer): string {
  const isCopy = output !== undefined && typeof output !== 'string';
  return isCopy && Buffer.byteLength(result) > MAX_VALUE_BYTES ? cutText(result, MAX_CUT_BYTES) : result;
}

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}
