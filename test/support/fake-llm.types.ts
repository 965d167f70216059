export type {
  FakeCall,
  FakeMessage,
  FakeReply,
  FakeRequest,
  FakeRequestMessage,
  FakeScript,
} from '../../src/testing/provider/fake-provider.types.js';
