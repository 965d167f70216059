import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ToolExecutionContext } from 'jackdaw';
import { OrdersService } from './orders.service.js';

/** Allows access to an order only in a run of its customer, regardless of prompt injection. */
@Injectable()
export class OwnOrderGuard implements CanActivate {
  constructor(private readonly orders: OrdersService) {}

  canActivate(context: ExecutionContext): boolean {
    const request = ToolExecutionContext.create(context).getRequest();
    const { orderId } = request.arguments as { readonly orderId: string };
    const order = this.orders.find(orderId);
    return order === undefined || order.customer === request.principal.id;
  }
}
