import { type CanActivate, type ExecutionContext, Inject, Injectable, Scope, UseGuards } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Tool, ToolContext, ToolExecutionContext, ToolRequest } from '../../src/index.js';

/** A guard that serves routes and tools alike. */
@Injectable()
class AdminGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType<string>() !== 'tool') return true;
    return ToolExecutionContext.create(context).getRequest().principal.roles.includes('admin');
  }
}

@Injectable({ scope: Scope.REQUEST })
export class Basket {
  constructor(@Inject(REQUEST) private readonly request: ToolRequest) {}
  get owner(): string {
    return `${this.request.tenant}/${this.request.principal.id}`;
  }
}

@Injectable({ scope: Scope.REQUEST })
export class ShopTools {
  constructor(private readonly basket: Basket) {}

  @Tool({ description: 'Returns the owner of the basket.', effect: 'read' })
  whose(): string {
    return this.basket.owner;
  }

  @Tool({ description: 'Empties all baskets.' })
  @UseGuards(AdminGuard)
  emptyAll(): string {
    return 'emptied';
  }

  @Tool({ description: 'Counts, and reports its progress.', effect: 'read' })
  async count(@ToolContext() context: ToolContext): Promise<string> {
    for (const n of [1, 2]) context.progress(n, 2, `at ${n}`);
    context.logger.log('counted', { shelves: 2 });
    return 'x'.repeat(70_000);
  }
}
