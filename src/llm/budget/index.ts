/** Budgets of tokens and costs: reservations before a call, and the usage after it. */
export { budgetInUse } from './budget.error.js';
export { ModelBudget, type Reservation } from './model-budget.js';
export type { BudgetStatus, JournaledSpending, JournaledUsage, ReportedUsage } from './model-budget.js';
