import { Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import { type AsyncOption, provided } from '../kernel/nest/index.js';
import { toolConfig, type ToolConfig } from '../config/namespaces/index.js';
import { ToolModule } from '../tool/index.js';
import { ToolLogFilter, ToolPolicyRegistry } from '../tool/decision/index.js';
import { CallApprovalStore } from './approvals/call-approval.store.js';
import { CallApprovals, CallRules } from './approvals/call-approvals.service.js';
import { ApprovalListPolicy, ArgumentPolicy, TaintPolicy, ToolListPolicy } from './tool-policies.js';
import { CallRates } from './call-rate.service.js';
import { SecurityPolicies } from './security-policies.registry.js';
import type { SecurityPolicy } from './security-policy.schema.js';

const GIVEN = Symbol('GIVEN');

/** Checks every tool call against the security policy. */
@Module({})
export class SecurityPolicyModule implements OnModuleInit {
  constructor(
    private readonly registry: ToolPolicyRegistry,
    private readonly policies: SecurityPolicies,
  ) {}

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
          useFactory: ({ policyFile, taintRule }: ToolConfig, own: SecurityPolicy | undefined) =>
            SecurityPolicies.open(policyFile, own, taintRule),
          inject: [toolConfig.KEY, { token: GIVEN, optional: true }],
        },
        { provide: ToolLogFilter, useExisting: SecurityPolicies },
        CallRates,
        CallApprovalStore,
        CallApprovals,
        {
          provide: CallRules,
          useFactory: (rates: CallRates, approvals: CallApprovals) => new CallRules(rates, approvals),
          inject: [CallRates, CallApprovals],
        },
      ],
      exports: [SecurityPolicies, ToolLogFilter, CallRules, CallApprovalStore],
    };
  }

  onModuleInit(): void {
    for (const one of [ToolListPolicy, ArgumentPolicy, TaintPolicy]) this.registry.register(new one(this.policies));
    this.registry.register(new ApprovalListPolicy());
  }
}
