import { type ToolPin, ToolPinStore } from './tool-pin-store.js';

/** Stores pins in memory, for use without a database. */
export class MemoryToolPinStore extends ToolPinStore {
  private readonly pins = new Map<string, Map<string, ToolPin>>();

  async of(server: string): Promise<ReadonlyMap<string, ToolPin>> {
    return new Map([...this.known(server)].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  async add(server: string, pins: readonly ToolPin[]): Promise<void> {
    const known = this.known(server);
    for (const pin of pins) if (!known.has(pin.tool)) known.set(pin.tool, pin);
  }

  async replace(server: string, pins: readonly ToolPin[]): Promise<void> {
    for (const pin of pins) this.known(server).set(pin.tool, pin);
  }

  async forget(server: string): Promise<void> {
    this.pins.delete(server);
  }

  private known(server: string): Map<string, ToolPin> {
    const known = this.pins.get(server) ?? new Map<string, ToolPin>();
    this.pins.set(server, known);
    return known;
  }
}
