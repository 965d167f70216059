import { describe, expect, it } from 'vitest';
import type { ParameterName } from '../chat/chat.types.js';
import { AdaptedRequest, type FieldChanges } from './adapted-request.builder.js';
import { RefusedParameterError, StatusError } from './wire-failure.error.js';

const BODY = {
  model: 'm',
  messages: [],
  temperature: 0.7,
  max_tokens: 9,
  parallel_tool_calls: false,
  tools: [
    { type: 'function', function: { name: 'pay', strict: true } },
    { type: 'function', function: { name: 'look' } },
  ],
};

function request(known: FieldChanges = new Map(), required: readonly ParameterName[] = []): AdaptedRequest {
  const isRequired = (name: ParameterName) => required.includes(name);
  const write = ({ hasFormat }: { hasFormat: boolean }) => ({ ...BODY, hasFormat });
  return new AdaptedRequest({ write, isRequired, hasEffort: false, maxReplyTokens: 4096 }, known);
}

function refusal(...fields: readonly string[]): StatusError {
  return new StatusError(400, fields.map((field) => `Unknown parameter: '${field}'.`).join(' '));
}

describe('an adapted request', () => {
  it('omits all refused fields, those of tools included', () => {
    const adapted = request();
    expect(adapted.adapt(refusal('temperature', 'parallel_tool_calls', 'tools[0].function.strict'))).toBe(true);
    const { temperature: _temperature, parallel_tool_calls: _parallel, ...rest } = BODY;
    const tools = ['pay', 'look'].map((name) => ({ type: 'function', function: { name } }));
    expect(adapted.body).toEqual({ ...rest, tools, hasFormat: true });
    expect(BODY.tools[0]?.function.strict).toBe(true);
  });

  it('renames a field once, and omits it after the second refusal', () => {
    const adapted = request();
    expect(adapted.adapt(refusal('max_tokens'))).toBe(true);
    expect(adapted.body).toMatchObject({ max_completion_tokens: 9 });
    expect(adapted.adapt(refusal('max_completion_tokens'))).toBe(true);
    expect(Object.keys(adapted.body)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^max_/)]));
  });

  it('does not omit a required parameter, also if it is known to be refused', () => {
    const adapted = request(new Map([['temperature', null]]), ['temperature', 'maxTokens']);
    expect(adapted.body).toMatchObject({ temperature: 0.7 });
    expect(() => adapted.adapt(refusal('temperature'))).toThrow(RefusedParameterError);
    const renamed = request(new Map([['max_tokens', 'max_completion_tokens']]), ['maxTokens']);
    expect(renamed.body).toMatchObject({ max_completion_tokens: 9 });
    expect(renamed.adapt(refusal('max_completion_tokens'))).toBe(true);
    expect(() => renamed.adapt(refusal('max_tokens'))).toThrow(RefusedParameterError);
  });

  it.each(['tools', 'messages[0].name', 'model', 'top_k'])('does not change for a refusal of %s', (field) => {
    const adapted = request();
    expect(adapted.adapt(refusal(field))).toBe(false);
    expect(adapted.found.size).toBe(0);
  });

  it('reverts a known rename if another server refuses the new name', () => {
    const adapted = request(new Map([['max_tokens', 'max_completion_tokens']]), ['maxTokens']);
    expect(adapted.body).toMatchObject({ max_completion_tokens: 9 });
    expect(adapted.adapt(refusal('max_completion_tokens'))).toBe(true);
    expect(adapted.body).toMatchObject({ max_tokens: 9 });
    expect(adapted.body).not.toHaveProperty('max_completion_tokens');
  });

  it('omits an optional temperature rather than a required top_p', () => {
    const body = { ...BODY, top_p: 0.5 };
    const adapted = new AdaptedRequest(
      { write: () => body, hasEffort: false, maxReplyTokens: 4096, isRequired: (name) => name === 'topP' },
      new Map(),
    );
    const both = '`temperature` and `top_p` cannot both be specified for this model.';
    expect(adapted.adapt(new StatusError(400, both))).toBe(true);
    expect(adapted.body).toMatchObject({ top_p: 0.5 });
    expect(adapted.body).not.toHaveProperty('temperature');
  });

  it('disables reasoning beside tools if the provider asks for it', () => {
    const adapted = request();
    const said =
      "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    const failure = new StatusError(400, said, undefined, undefined, 'reasoning_effort');
    expect(adapted.adapt(failure)).toBe(true);
    expect(adapted.body).toEqual({ ...BODY, hasFormat: true, reasoning_effort: 'none' });
    expect(adapted.adapt(failure)).toBe(false);
  });

  describe('with an effort', () => {
    const TOOLS_ONLY = new StatusError(
      400,
      'Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.',
    );
    const reasoning = (isRequired: boolean) => {
      const write = ({ hasEffort }: { hasEffort: boolean }) => ({
        ...BODY,
        ...(hasEffort && { reasoning_effort: 'low' }),
      });
      return new AdaptedRequest(
        { write, isRequired: () => isRequired, hasEffort: true, maxReplyTokens: 4096 },
        new Map(),
      );
    };

    it.each([
      'This model does not support the effort parameter.',
      '"qwen2" does not support thinking',
      'invalid reasoning value: \'low\' (must be "none")',
      'output_config.effort: Extra inputs are not permitted',
      '"thinking.type.disabled" is not supported for this model.',
      'Unrecognized request argument supplied: reasoning_effort',
    ])('omits an optional one after "%s"', (said) => {
      const adapted = reasoning(false);
      expect(adapted.body).toMatchObject({ reasoning_effort: 'low' });
      expect(adapted.adapt(new StatusError(400, said))).toBe(true);
      expect(adapted.body).toEqual(BODY);
      expect([...adapted.found]).toEqual([['effort', null]]);
      expect(() => reasoning(true).adapt(new StatusError(400, said))).toThrow(RefusedParameterError);
    });

    it('replaces an optional one by none beside tools, and rejects a required one', () => {
      const adapted = reasoning(false);
      expect(adapted.adapt(TOOLS_ONLY)).toBe(true);
      expect(adapted.body).toMatchObject({ reasoning_effort: 'none' });
      expect(() => reasoning(true).adapt(TOOLS_ONLY)).toThrow(RefusedParameterError);
    });
  });

  it('writes no marks of a cache after their refusal', () => {
    const write = ({ hasCaching }: { hasCaching: boolean }) => ({
      ...BODY,
      system: [{ text: 'a', ...(hasCaching && { cache_control: {} }) }],
    });
    const adapted = new AdaptedRequest(
      { write, isRequired: () => true, hasEffort: false, maxReplyTokens: 4096 },
      new Map(),
    );
    expect(adapted.adapt(new StatusError(400, 'system.0.cache_control: Extra inputs are not permitted'))).toBe(true);
    expect(adapted.body['system']).toEqual([{ text: 'a' }]);
  });

  it('adapts to each field once', () => {
    const adapted = request();
    expect(adapted.adapt(refusal('strict'))).toBe(true);
    expect(adapted.adapt(refusal('strict'))).toBe(false);
  });
});
