import type { EntitySchemaOptions } from 'typeorm';

/** A tool that is disabled for a tenant; without a row it is enabled. */
export interface DisabledTool {
  readonly tenant: string;
  readonly name: string;
  /** Id of the principal who disabled it. */
  readonly disabledBy: string;
  /** Epoch ms. */
  readonly disabledAt: number;
}

export const DisabledToolEntity: EntitySchemaOptions<DisabledTool> = {
  name: 'disabled_tool',
  withoutRowid: true,
  columns: {
    tenant: { type: 'varchar', length: 128, primary: true },
    name: { type: 'varchar', length: 64, primary: true },
    disabledBy: { type: 'varchar', name: 'disabled_by', length: 128 },
    disabledAt: { type: 'bigint', name: 'disabled_at' },
  },
};
