import type { VocabularyName } from './vocabulary.types.js';

/**
 * From `MODEL_PREFIX_TO_ENCODING` of github.com/openai/tiktoken (tiktoken/model.py), plus Azure's names without dots.
 */
const VOCABULARIES: readonly (readonly [RegExp, VocabularyName])[] = [
  [/^(chatgpt-|gpt-)(4o|4\.\d|4[15]|[5-9]|oss)(?![a-z\d])/, 'o200k_base'],
  [/^(o\d|codex)(?![a-z\d])/, 'o200k_base'],
  [/^gpt-(4|3\.5|35)(?![a-z\d.])/, 'cl100k_base'],
];

/**
 * The vocabulary of an OpenAI model by its name. The name may have a date or variant as suffix, and a gateway's path
 * (`openai/gpt-4o`) or `ft:` as prefix. Undefined for all other models.
 */
export function vocabularyOf(model: string): VocabularyName | undefined {
  const name = model
    .toLowerCase()
    .slice(model.lastIndexOf('/') + 1)
    .replace(/^ft:/, '');
  return VOCABULARIES.find(([pattern]) => pattern.test(name))?.[1];
}
