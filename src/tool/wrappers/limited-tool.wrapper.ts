import { Semaphore } from '../../common/index.js';
import type { Tool, ToolContext } from '../tool.types.js';

/** A tool of which `concurrency` calls run at once in this process; others wait, as long as their signal lets them. */
export function limitedTool(tool: Tool, concurrency: number): Tool {
  const places = new Semaphore(concurrency);
  const invoke = async (input: unknown, context: ToolContext): Promise<unknown> => {
    await places.enter(context.signal);
    try {
      return await tool.invoke(input, context);
    } finally {
      places.leave();
    }
  };
  return { ...tool, invoke };
}
