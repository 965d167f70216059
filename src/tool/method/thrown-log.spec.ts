import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  Catch,
  type ExceptionFilter,
  Injectable,
  type INestApplicationContext,
  Logger,
  Module,
  UseFilters,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { callSite } from '../../../test/support/call-site.js';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { AppConfigModule } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import { ToolExecutor } from '../tool.executor.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import { Tool } from './tool.decorator.js';

const description = 'For a test.';
const lines: string[] = [];
const record = (message: unknown) => void lines.push(message instanceof Error ? message.stack! : String(message));

class OtherError extends Error {}

@Catch(OtherError)
class OtherFilter implements ExceptionFilter {
  catch(): string {
    return 'handled';
  }
}

@Injectable()
class FaultyTools {
  @Tool({ description })
  foreign(): never {
    throw new Error('the shelf broke');
  }

  @Tool({ description })
  own(): never {
    throw new AppError('TOOL_FAILED', 'the shelf broke');
  }

  @Tool({ description })
  @UseFilters(OtherFilter)
  filtered(): never {
    throw new Error('the shelf broke');
  }

  @Tool({ description })
  @UseFilters(OtherFilter)
  handled(): never {
    throw new OtherError();
  }
}

@Module({ imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule], providers: [FaultyTools] })
class AppModule {}

describe('the log of an exception of a tool', () => {
  let app: INestApplicationContext;
  beforeAll(async () => {
    const logger = { log: () => undefined, warn: record, error: record };
    app = await NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
  });
  afterAll(async () => {
    await app.close();
    Logger.overrideLogger(false);
  });
  beforeEach(() => void lines.splice(0));

  async function call(name: string): Promise<unknown> {
    const executor = app.get(ToolExecutor);
    const site = callSite();
    const tools = new Map([[name, app.get(ToolRegistry).get(name)]]);
    const planned = await executor.plan({ name, arguments: '{}' }, tools, site);
    if (planned.kind === 'rejected') return planned.result;
    return executor.invoke(planned, site);
  }

  it.each(['foreign', 'own', 'filtered'])('has it once: %s', async (name) => {
    expect(await call(name)).toMatchObject({ result: { success: false, error: 'the shelf broke' } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`Tool "${name}" failed: `);
  });

  it('has no line for an exception that a filter handles', async () => {
    expect(await call('handled')).toMatchObject({ result: { success: true, result: 'handled' } });
    expect(lines).toEqual([]);
  });
});
