import { Module } from '@nestjs/common';
import { OrdersService } from './orders.service.js';
import { OrderTools } from './orders.tools.js';

/** `@Tool` methods are found on whatever a module provides. */
@Module({ providers: [OrdersService, OrderTools] })
export class OrdersModule {}
