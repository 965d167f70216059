import { Injectable, type OnModuleDestroy } from '@nestjs/common';

/** Says no as soon as a shutdown begins, while what runs may still end. */
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
