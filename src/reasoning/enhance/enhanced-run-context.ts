import type { Principal } from '../../kernel/index.js';
import { MemoryRunContext, type RunEvent } from '../../run/index.js';

/** The context of one call of an enhanced model: it persists nothing and publishes only the text. */
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
