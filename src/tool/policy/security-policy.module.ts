import { Module, type DynamicModule } from '@nestjs/common';
import { type AsyncOption, provided } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { ToolModule } from '../tool.module.js';
import { ApprovalListPolicy } from './approval-list.policy.js';
import { ArgumentPolicy } from './argument.policy.js';
import { CallRates } from './call-rate.service.js';
import { SecurityPolicies } from './security-policies.registry.js';
import type { SecurityPolicy } from './security-policy.types.js';
import { TaintPolicy } from './taint.policy.js';
import { ToolListPolicy } from './tool-list.policy.js';
import { ToolPolicyRegistry } from './tool-policy.registry.js';

const GIVEN = Symbol('GIVEN');

/** Checks every tool call against the security policy. */
@Module({})
export class SecurityPolicyModule {
  constructor(registry: ToolPolicyRegistry, policies: SecurityPolicies) {
    for (const one of [ToolListPolicy, ArgumentPolicy, TaintPolicy]) registry.register(new one(policies));
    registry.register(new ApprovalListPolicy());
  }

  /** @param given policy in addition to SECURITY_POLICY_FILE */
  static forRoot(given?: SecurityPolicy | AsyncOption<SecurityPolicy | undefined>): DynamicModule {
    return {
      module: SecurityPolicyModule,
      global: true,
      imports: [ToolModule],
      providers: [
        provided(GIVEN, given),
        {
          provide: SecurityPolicies,
          useFactory: ({ security }: AppConfig, own: SecurityPolicy | undefined) =>
            SecurityPolicies.open(security.policyFile, own),
          inject: [AppConfig, { token: GIVEN, optional: true }],
        },
        CallRates,
      ],
      exports: [SecurityPolicies, CallRates],
    };
  }
}
