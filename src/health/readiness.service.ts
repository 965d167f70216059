import { Injectable, type OnModuleDestroy } from '@nestjs/common';

/** Not ready from the start of a shutdown, while executing runs may still end. */
@Injectable()
export class ReadinessService implements OnModuleDestroy {
  private isClosing = false;

  get isReady(): boolean {
    return !this.isClosing;
  }

  onModuleDestroy(): void {
    this.isClosing = true;
  }
}
