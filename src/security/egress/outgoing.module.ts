import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { securityConfig, type SecurityConfig } from '../../config/namespaces/index.js';
import { OutgoingClient } from './outgoing.client.js';

/** Provides `OutgoingClient` and closes its connections at shutdown. */
@Module({
  providers: [
    {
      provide: OutgoingClient,
      useFactory: ({ outgoing }: SecurityConfig) => new OutgoingClient(outgoing),
      inject: [securityConfig.KEY],
    },
  ],
  exports: [OutgoingClient],
})
export class OutgoingModule implements OnApplicationShutdown {
  constructor(private readonly client: OutgoingClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }
}
