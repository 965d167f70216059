import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import type { ToolPolicy } from './tool-policy.js';

/** Owns the policies that calls are checked against; register at boot. */
@Injectable()
export class ToolPolicyRegistry {
  private readonly policies = new Map<string, ToolPolicy>();

  /** Throws `TOOL_INVALID` when the name is taken. */
  register(policy: ToolPolicy): void {
    if (this.policies.has(policy.name)) {
      throw new AppError('TOOL_INVALID', `Two tool policies are named "${policy.name}"; rename one.`);
    }
    this.policies.set(policy.name, policy);
  }

  /** In the order of their registration. */
  list(): readonly ToolPolicy[] {
    return [...this.policies.values()];
  }
}
