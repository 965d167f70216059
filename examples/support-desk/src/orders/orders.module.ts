import { Module } from '@nestjs/common';
import { OrdersService } from './orders.service.js';
import { OrderTools } from './orders.tools.js';

/** Jackdaw finds the `@Tool` methods of all providers. */
@Module({ providers: [OrdersService, OrderTools] })
export class OrdersModule {}
