import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { toolExecutor } from '../../../test/support/tool-parts.js';
import { callSite } from '../../../test/support/call-site.js';
import { loadConfig } from '../../config/index.js';
import type { AgentConfig } from '../../config/namespaces/index.js';
import { withImages } from './illustrated-result.factory.js';
import { withValue } from './tool-result.factory.js';
import { toolResultText } from './tool-result.mapper.js';
import { ToolExecutor } from '../tool.executor.js';
import { ToolRegistry } from '../tool.registry.js';
import type { ToolRegistration } from '../tool-registration.types.js';

Logger.overrideLogger(false);
const LINK = 'https://a.example/b.png';
/** A JPEG. @param bytes its size, at least 3 */
const picture = (bytes: number, label = 'image/jpeg') => {
  const content = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(bytes - 3)]);
  return `data:${label};base64,${content.toString('base64')}`;
};
const config = (limit: number): AgentConfig =>
  loadConfig({ env: { AGENT_MAX_IMAGE_BYTES: String(limit) } }).config.agent;

function executorWith(limit?: number): ToolExecutor {
  return toolExecutor(limit === undefined ? {} : { config: config(limit) });
}

async function call(registration: Partial<ToolRegistration> & Pick<ToolRegistration, 'handler'>, limit?: number) {
  const registry = new ToolRegistry();
  registry.register({ name: 'plot', description: 'Plots.', effect: 'read', ...registration });
  const invoke = () =>
    executorWith(limit).invoke({ tool: registry.get('plot'), input: {} }, callSite(), { maxResultBytes: 100 });
  const first = await invoke();
  if (first.kind !== 'result') throw new Error('It asks.');
  return { ...first, again: await invoke() };
}

describe('withImages', () => {
  it.each([
    ['http://a.example/b.png', 'https://'],
    ['data:image/png,hi', 'data:image/png'],
    [7 as unknown as string, 'it must be text'],
  ])('refuses %s', (url, message) => {
    expect(() => withImages('x', [LINK, url])).toThrow(message);
    expect(() => withImages('x', [LINK, url])).toThrow('(1)');
  });
});

describe('a result with images', () => {
  it('returns its images beside an unchanged value', async () => {
    const { result } = await call({ handler: () => withImages({ n: 1 }, [LINK, picture(3)]) });
    expect(result).toMatchObject({ success: true, result: { n: 1 }, images: [LINK, picture(3)] });
    expect(toolResultText(result)).toBe('{"n":1}');
    expect((await call({ handler: () => withImages('x', []) })).result).not.toHaveProperty('images');
  });

  it('is validated against the output schema of the tool', async () => {
    const output = { type: 'object', required: ['n'] };
    const { result } = await call({ output, handler: () => withImages({ m: 1 }, [LINK]) });
    expect(result).toMatchObject({ success: false, code: 'TOOL_INVALID_RESULT' });
  });

  it('retains its images when its text is cut or replaced', async () => {
    const { result, whole } = await call({ handler: () => withImages('x'.repeat(200), [LINK]) });
    expect([result, whole]).toMatchObject([{ result_bytes: 200, images: [LINK] }, 'x'.repeat(200)]);
    expect(withValue(result, 'masked', 100).result).toMatchObject({ result: 'masked', images: [LINK] });
  });

  it('retains its images when it comes from the cache or from a retry', async () => {
    let calls = 0;
    const handler = () => {
      if (++calls === 1) throw new Error('away');
      return withImages({ calls }, [LINK]);
    };
    const { result, again } = await call({ handler, retries: 1, cacheTtlMs: 60_000 });
    expect([result, again]).toMatchObject([{ images: [LINK] }, { result: { result: { calls: 2 }, images: [LINK] } }]);
  });

  it('omits images that are too large or too many, with a note, and still succeeds', async () => {
    const { result } = await call({ handler: () => withImages('x', [picture(6), picture(9), picture(4)]) }, 10);
    expect(result).toMatchObject({ success: true, result: 'x', images: [picture(6), picture(4)], images_left_out: 1 });
    expect(toolResultText(result)).toBe('x\n[Not shown, as too many, too large or unreadable: 1 image]');
    const many = await call({
      handler: () =>
        withImages(
          'x',
          Array.from({ length: 23 }, () => LINK),
        ),
    });
    expect(many.result).toMatchObject({ images: Array.from({ length: 20 }, () => LINK), images_left_out: 3 });
    const none = await call({ handler: () => withImages('x', [picture(3)]) }, 0);
    expect(none.result).toMatchObject({ success: true, images_left_out: 1 });
    expect(none.result).not.toHaveProperty('images');
  });

  it('gives an image the media type of its bytes, and omits other data with a note', async () => {
    const page = `data:image/png;base64,${Buffer.from('<html>').toString('base64')}`;
    const images = [picture(3, 'image/png'), page, picture(6, 'IMAGE/JPG')];
    for (const cacheTtlMs of [undefined, 60_000]) {
      const cached = cacheTtlMs ? { cacheTtlMs } : {};
      const { result, again } = await call({ handler: () => withImages('x', images), ...cached });
      expect(result).toMatchObject({ success: true, images: [picture(3), picture(6)], images_left_out: 1 });
      expect(again).toMatchObject({ result: { images: [picture(3), picture(6)], images_left_out: 1 } });
      expect(toolResultText(result)).toBe('x\n[Not shown, as too many, too large or unreadable: 1 image]');
    }
  });
});
