import type { Principal } from '../../common/index.js';
import { MemoryRunContext, type RunEvent } from '../../run/index.js';

/** One call of an enhanced model: nothing of it is kept, and of what it tells only the text has a listener. */
export class EnhancedRunContext extends MemoryRunContext {
  constructor(
    principal: Principal,
    signal: AbortSignal,
    private readonly onText: (text: string) => void,
  ) {
    super(principal, signal);
  }

  override emit(event: RunEvent): void {
    if (event.type === 'message.delta') this.onText(event.text);
  }
}
