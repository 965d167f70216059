import { Injectable } from '@nestjs/common';

export interface Order {
  readonly id: string;
  readonly customer: string;
  readonly item: string;
  /** In cents. */
  readonly price: number;
  refundedBy?: string;
}

/** The shop's orders; a production application stores them in its database. */
@Injectable()
export class OrdersService {
  private readonly orders = new Map<string, Order>(
    [
      { id: 'A1', customer: 'ann', item: 'A lamp', price: 2_500 },
      { id: 'A2', customer: 'ann', item: 'A sofa', price: 89_900 },
      { id: 'B1', customer: 'bob', item: 'A chair', price: 12_000 },
    ].map((order) => [order.id, order]),
  );

  find(id: string): Order | undefined {
    return this.orders.get(id);
  }

  /** @param key idempotency key: two calls with the same key are one refund */
  refund(id: string, key: string): Order | undefined {
    const order = this.orders.get(id);
    if (order) order.refundedBy ??= key;
    return order;
  }
}
