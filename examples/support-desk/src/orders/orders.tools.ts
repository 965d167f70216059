import { Injectable, NotFoundException, UseGuards } from '@nestjs/common';
import { IsString, Matches } from 'class-validator';
import { Tool, type ToolContext } from 'jackdaw';
import { OwnOrderGuard } from './own-order.guard.js';
import { type Order, OrdersService } from './orders.service.js';

class OrderReference {
  /** Order id such as A1. */
  @IsString()
  @Matches(/^[A-Z]\d+$/)
  orderId!: string;
}

/** Tools of the agent for orders. */
@Injectable()
@UseGuards(OwnOrderGuard)
export class OrderTools {
  constructor(private readonly orders: OrdersService) {}

  @Tool({ name: 'find_order', description: 'Finds an order of the customer by its id.', effect: 'read' })
  find({ orderId }: OrderReference): Order {
    const order = this.orders.find(orderId);
    if (!order) throw new NotFoundException(`There is no order ${orderId}.`);
    return order;
  }

  /** `key` stays the same if the call repeats after a crash, so no refund is paid twice. */
  @Tool({
    name: 'refund_order',
    description: 'Refunds an order to the customer. A member of staff must approve.',
    effect: 'idempotent',
    approval: 'always',
  })
  refund({ orderId }: OrderReference, { key }: ToolContext): string {
    const order = this.orders.refund(orderId, key);
    if (!order) throw new NotFoundException(`There is no order ${orderId}.`);
    return `Refunded ${order.price / 100} for the order ${orderId} (${order.item}).`;
  }
}
