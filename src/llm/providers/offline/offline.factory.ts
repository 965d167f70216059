import type { ChatModel } from '../../chat/chat-model.js';
import { ModelFactory } from '../../model-factory.js';
import { OfflineModel } from './offline.model.js';

/** The model without key, network access or settings. */
export class OfflineFactory extends ModelFactory {
  readonly name = 'offline';
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = 'offline';

  override create(): ChatModel {
    return new OfflineModel();
  }
}
