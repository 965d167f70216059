import { factsOf } from '../../models/model-facts.js';
import type { ImageLimits, ModelCapabilities, ParameterLimits } from '../../chat/chat.types.js';

/**
 * Unsupported by the API (docs.bigmodel.cn, 对话补全): penalties, a seed, temperatures above 1, and a second stop sequence.
 */
const LIMITS: ParameterLimits = {
  lacking: ['frequencyPenalty', 'presencePenalty', 'seed'],
  maxTemperature: 1,
  maxStops: 1,
};

/** 5 MB and 6000 x 6000 pixels per image (docs.bigmodel.cn, 对话补全, `image_url`). */
const IMAGE_LIMITS: ImageLimits = { maxBase64Bytes: Math.ceil((5 * 1024 * 1024) / 3) * 4, maxSide: 6000 };

/** Capabilities by model name; the API supports only `tool_choice` `auto` (docs.bigmodel.cn, 对话补全). */
export function capabilitiesOf(model: string): ModelCapabilities {
  const { vision = false, effort } = factsOf({ provider: 'glm', name: model });
  return {
    vision,
    imageLimits: IMAGE_LIMITS,
    functionCalling: true,
    jsonMode: true,
    forcedToolChoice: false,
    parameterLimits: { ...LIMITS, ...(effort && { efforts: effort }) },
  };
}
