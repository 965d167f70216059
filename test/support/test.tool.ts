import { IsInt, IsString, Max, Min } from 'class-validator';
import { z } from 'zod';
import { Tool, type ToolContext } from '../../src/tool/method/index.js';
import { gate } from './jackdaw.js';

class ForecastInput {
  @IsString()
  city!: string;

  @IsInt()
  @Min(1)
  @Max(7)
  days!: number;
}

/** Tools of every form, which record their calls and can wait for a test. */
export class TestTools {
  /** The calls with their arguments, in order. */
  readonly called: [string, unknown][] = [];
  /** The id of the run that called `double` last. */
  runId = '';
  private readonly gates = new Map<string, ReturnType<typeof gate>>();
  private readonly arrivals = new Map<string, ReturnType<typeof gate>>();

  @Tool({ description: 'Takes a DTO.', effect: 'read' })
  forecast(input: ForecastInput): unknown {
    const { city, days } = input;
    this.called.push(['forecast', { city, days }]);
    return { city, isDto: input instanceof ForecastInput };
  }

  @Tool({ description: 'Takes a Standard Schema.', effect: 'idempotent', input: z.object({ n: z.number().int() }) })
  double({ n }: { n: number }, { runId }: ToolContext): number {
    this.runId = runId;
    this.called.push(['double', { n }]);
    return n * 2;
  }

  @Tool({ description: 'Takes a string.', effect: 'read', paramsDescription: 'The text.' })
  shout(text: string): string {
    this.called.push(['shout', text]);
    return text.toUpperCase();
  }

  @Tool({ description: 'Fails.', effect: 'read' })
  broken(): never {
    this.called.push(['broken', null]);
    throw new Error('the pipe burst');
  }

  @Tool({ description: 'Waits.', effect: 'read', input: z.object({ name: z.string() }) })
  wait({ name }: { name: string }): Promise<string> {
    return this.meet('wait', name);
  }

  @Tool({ description: 'Waits, and must not be repeated.', input: z.object({ name: z.string() }) })
  pay({ name }: { name: string }): Promise<string> {
    return this.meet('pay', name);
  }

  /** Waits until the tool was called with this name. */
  arrived(name: string): Promise<void> {
    return this.at(this.arrivals, name).opened;
  }

  /** Releases the call with this name. */
  open(name: string): void {
    this.at(this.gates, name).open();
  }

  private async meet(tool: string, name: string): Promise<string> {
    this.called.push([tool, name]);
    this.at(this.arrivals, name).open();
    await this.at(this.gates, name).opened;
    return `${name} done`;
  }

  private at(map: Map<string, ReturnType<typeof gate>>, name: string): ReturnType<typeof gate> {
    let found = map.get(name);
    if (!found) map.set(name, (found = gate()));
    return found;
  }
}
