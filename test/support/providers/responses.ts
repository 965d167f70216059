import { toChatRequest } from '../../../src/testing/provider/response-object.mapper.js';
import { openAiBody, tooLong } from './openai.js';
import { OPENAI_TOOL_RULES } from './openai-tools.js';
import { rulesOf, type ProviderRule } from './provider-rule.js';
import { partsOf } from './request-parts.js';
import { ID_PREFIXES, inputImages, ITEM_FIELDS, itemsIn, itemsOf } from './responses-parts.js';
import { RESPONSES_REQUEST_RULES, unknownParameter } from './responses-request.js';

const rule = rulesOf(['responses'], openAiBody);

const CREATE = 'https://developers.openai.com/api/reference/resources/responses/methods/create';
const IMAGE = /^(?:https:\/\/|data:image\/(?:png|jpeg|gif|webp);base64,)/;
const ROLES = ['assistant', 'system', 'developer', 'user'];

const ITEM_RULES: readonly ProviderRule[] = [
  rule('input-empty', 'A request has at least one item of input.', CREATE, (request) =>
    itemsIn(request).length > 0 ? undefined : { message: "Missing required parameter: 'input'.", param: 'input' },
  ),
  rule(
    'item-fields',
    'An item has the fields of its type only.',
    'https://github.com/openai/openai-python/issues/2677',
    (request) => {
      for (const { at, item, type } of itemsIn(request)) {
        const fields = ITEM_FIELDS[type];
        if (!fields) return { message: `Invalid value: '${type}'.`, param: `input[${at}]`, code: 'invalid_value' };
        const field = Object.keys(item).find((name) => !fields.includes(name));
        if (field !== undefined) return unknownParameter(`input[${at}].${field}`);
      }
      return undefined;
    },
  ),
  rule(
    'roles',
    'The roles are assistant, system, developer and user: results are items, not messages.',
    'https://github.com/openai/openai-python/issues/2677',
    (request) => {
      const found = itemsOf(request, 'message').find(({ item }) => !ROLES.includes(String(item['role'])));
      return (
        found && {
          message: `Invalid value: '${String(found.item['role'])}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
          param: `input[${found.at}]`,
          code: 'invalid_value',
        }
      );
    },
  ),
  rule(
    'content-parts',
    'Parts of an assistant message are output_text and refusal, of other messages input_text and input_image.',
    'https://github.com/tinyhumansai/openhuman/issues/3624',
    (request) => {
      for (const { at, item } of itemsOf(request, 'message')) {
        const types = item['role'] === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image'];
        const part = partsOf(item['content']).find(({ type }) => !types.includes(String(type)));
        if (!part) continue;
        const message = `Invalid value: '${String(part['type'])}'. Supported values are: '${types.join("' and '")}'.`;
        return { message, param: `input[${at}].content[0]`, code: 'invalid_value' };
      }
      return undefined;
    },
  ),
  rule(
    'unanswered-call',
    'The input has an output of every function call, after it.',
    'https://github.com/router-for-me/CLIProxyAPI/issues/2368',
    (request) => {
      const outputs = itemsOf(request, 'function_call_output');
      const open = itemsOf(request, 'function_call').find(
        (call) => !outputs.some(({ at, item }) => at > call.at && item['call_id'] === call.item['call_id']),
      );
      return (
        open && { message: `No tool output found for function call ${String(open.item['call_id'])}.`, param: 'input' }
      );
    },
  ),
  rule(
    'orphan-output',
    'A function call output has its function call before it.',
    'https://github.com/can1357/oh-my-pi/issues/106',
    (request) => {
      const calls = itemsOf(request, 'function_call');
      const orphan = itemsOf(request, 'function_call_output').find(
        (output) => !calls.some(({ at, item }) => at < output.at && item['call_id'] === output.item['call_id']),
      );
      return (
        orphan && {
          message: `No tool call found for function call output with call_id ${String(orphan.item['call_id'])}.`,
          param: 'input',
        }
      );
    },
  ),
  rule('call-id-length', 'A call id has 1 to 64 characters.', CREATE, (request) => {
    const found = itemsIn(request).find(({ item }) => {
      const id = item['call_id'];
      return id !== undefined && (typeof id !== 'string' || id === '' || id.length > 64);
    });
    return found && tooLong(`input[${found.at}].call_id`, 64, String(found.item['call_id']).length);
  }),
  rule(
    'item-id',
    'The id of an item begins with the prefix of its type.',
    'https://github.com/jlcodes99/cockpit-tools/issues/2090',
    (request) => {
      const found = itemsIn(request).find(({ item: { id }, type }) => {
        const prefix = ID_PREFIXES[type];
        return id !== undefined && prefix !== undefined && !(typeof id === 'string' && id.startsWith(prefix));
      });
      return (
        found && {
          message: `Invalid 'input[${found.at}].id': '${String(found.item['id'])}'. Expected an ID that begins with '${ID_PREFIXES[found.type]}'.`,
          param: `input[${found.at}].id`,
          code: 'invalid_value',
        }
      );
    },
  ),
  rule(
    'item-twice',
    'No two items have one id.',
    'https://github.com/OpenRouterTeam/ai-sdk-provider/issues/254',
    (request) => {
      const ids = itemsIn(request).flatMap(({ item: { id } }) => (id === undefined ? [] : [id]));
      const twice = ids.find((id, at) => ids.indexOf(id) !== at);
      return twice === undefined
        ? undefined
        : {
            message: `Duplicate item found with id ${JSON.stringify(twice)}. Remove duplicate items from your input and try again.`,
            param: 'input',
          };
    },
  ),
  rule(
    'image-limits',
    'A request has at most 500 images, each an https URL or a data URI of PNG, JPEG, GIF or WebP.',
    'https://developers.openai.com/api/docs/guides/images-vision',
    (request) => {
      const images = inputImages(request);
      return images.length > 500 || images.some((url) => !IMAGE.test(url))
        ? { message: 'The image data you provided does not represent a valid image.', code: 'invalid_image_format' }
        : undefined;
    },
  ),
];

/** The rules for tools are those of chat completions. */
const TOOL_RULES = OPENAI_TOOL_RULES.filter(({ providers }) => providers.includes('openai')).map(
  (one): ProviderRule => ({
    ...one,
    id: one.id.replace(/^openai/, 'responses') as ProviderRule['id'],
    providers: ['responses'],
    check: (request) => one.check(toChatRequest(request)),
  }),
);

/** Rules of OpenAI's Responses API. */
export const RESPONSES_RULES = [...ITEM_RULES, ...RESPONSES_REQUEST_RULES, ...TOOL_RULES];
