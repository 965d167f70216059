/** The result of a tool: its value, its text for the model, its images and files. */
export { IllustratedResult, withImages, ShownResult } from './illustrated-result.factory.js';
export { TypedBytes } from './json-result.mapper.js';
export { fileReference, withoutBinary } from './result-files.builder.js';
export {
  cutText,
  failedResult,
  succeededCall,
  succeededResult,
  withValue,
  type SucceededCall,
} from './tool-result.factory.js';
export { modelText, toolResultText } from './tool-result.mapper.js';
