import { adaptStateful, Extension, Parameter, type ExtensionHost } from '../../src/index.js';

/** An existing class without a dependency on tools. */
class Basket {
  constructor(private readonly goods: string[] = []) {}

  put(what: string): number {
    return this.goods.push(what);
  }

  toJSON(): { goods: string[] } {
    return { goods: [...this.goods] };
  }
}

export class BasketExtension extends Extension {
  readonly name = 'basket';
  readonly version = '1.0.0';

  override register(agent: ExtensionHost): void {
    agent.registerTool(
      adaptStateful<Basket>({
        name: 'basket',
        description: 'Adds an item to the basket and returns the number of items.',
        effect: 'read',
        parameters: [Parameter.string('what', 'What to put in.', true)],
        create: () => new Basket(),
        call: (basket, { what }: { what: string }) => basket.put(what),
        snapshot: (basket) => basket.toJSON(),
        restore: ({ goods }: { goods: string[] }) => new Basket(goods),
      }),
    );
  }
}
