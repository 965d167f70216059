import { Module } from '@nestjs/common';
import { JackdawModule } from 'jackdaw';
import { OrdersModule } from './orders/orders.module.js';
import { SettingsModule } from './settings/settings.module.js';
import { Settings } from './settings/settings.service.js';
import { SupportModule } from './support/support.module.js';

const INSTRUCTIONS = `You help customers of a shop with their orders.
Look an order up before you answer, and refund only the order that the customer names.`;

@Module({
  imports: [
    SettingsModule,
    JackdawModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: ({ dataDir }: Settings) => ({
        // The environment selects the model.
        config: { DATA_DIR: dataDir },
        agentChanges: { name: 'support', instructions: INSTRUCTIONS, tools: ['find_order', 'refund_order'] },
      }),
      builtinTools: false,
    }),
    OrdersModule,
    SupportModule,
  ],
})
export class AppModule {}
