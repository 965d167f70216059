import { Injectable } from '@nestjs/common';
import { suspend, Tool, type Suspension, type ToolContext } from '../../src/index.js';
import { z } from 'zod';

const FLIGHTS = ['LH1', 'KL2'];

@Injectable()
export class FlightTools {
  @Tool({ description: 'Books a flight.', input: z.object({ to: z.string() }) })
  book({ to }: { to: string }, { answer }: ToolContext): Suspension | string {
    if (!answer) {
      const schema = { enum: FLIGHTS };
      return suspend({ question: `Which flight to ${to}?`, schema, memo: { offer: 'cuckoo-7' }, takesDenial: true });
    }
    const { offer, flight } = answer.memo as { offer: string; flight?: string };
    if (answer.denied) return `${offer} is released: ${answer.denied.reason ?? 'no reason'}`;
    if (!flight) {
      return suspend({ question: 'Which seat?', schema: { type: 'string' }, memo: { offer, flight: answer.value } });
    }
    return `${offer}: ${flight}, seat ${answer.value as string}`;
  }
}
