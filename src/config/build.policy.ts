/** `replay` never calls the model, `record` always does and replaces the file, `auto` calls it for new requests. */
export type CassetteMode = 'replay' | 'record' | 'auto';

/** Whether this process belongs to a build, by the variable `CI`. */
function isContinuousIntegration(): boolean {
  return !['', '0', 'false', undefined].includes(process.env['CI']);
}

/** The mode of a cassette: a build never records. */
export function cassetteMode(chosen: CassetteMode = 'auto'): CassetteMode {
  return isContinuousIntegration() ? 'replay' : chosen;
}

interface CassetteValues {
  readonly LLM_CASSETTE?: string | undefined;
  readonly LLM_CASSETTE_MODE?: CassetteMode | undefined;
}

/** Whether a cassette answers all calls of models, so that no provider needs a key. */
export function isReplay({ LLM_CASSETTE: file, LLM_CASSETTE_MODE: mode }: CassetteValues): boolean {
  return file !== undefined && cassetteMode(mode) === 'replay';
}
