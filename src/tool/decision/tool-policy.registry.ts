import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { ToolPolicy } from './tool-policy.js';

/** The registered tool policies; register at boot. */
@Injectable()
export class ToolPolicyRegistry {
  private readonly policies = new Map<string, ToolPolicy>();

  /** @throws AppError `TOOL_INVALID` if the name is taken */
  register(policy: ToolPolicy): void {
    if (this.policies.has(policy.name)) {
      throw new AppError('TOOL_INVALID', `Two tool policies are named "${policy.name}"; rename one.`);
    }
    this.policies.set(policy.name, policy);
  }

  /** All policies in order of registration. */
  list(): readonly ToolPolicy[] {
    return [...this.policies.values()];
  }
}
