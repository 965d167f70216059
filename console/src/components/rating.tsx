import { useState } from 'preact/hooks';
import { post } from '../api';
import { may } from '../caller';
import { t } from '../i18n';
import type { Feedback } from '../types';
import { ActionButton } from './parts';

/** Whether a run has ended. */
export function isRatable(status: string | null): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

interface RatingProps {
  readonly runId: string;
  /** Earlier feedback of the caller. */
  readonly given?: Feedback | undefined;
  readonly onGiven?: () => void;
}

/** Two buttons that rate a run. A bad one asks for the reason and the right answer, which may stay empty. */
export function Rating({ runId, given, onGiven }: RatingProps) {
  const [score, setScore] = useState(given?.score ?? undefined);
  const [isOpen, setOpen] = useState(false);
  const [comment, setComment] = useState(given?.comment ?? '');
  const [correction, setCorrection] = useState(given?.correction ?? '');
  if (!may('chat') && !may('runs:write')) return null;
  const give = async (next: number) => {
    const texts = { ...(comment.trim() !== '' && { comment }), ...(correction !== '' && { correction }) };
    await post(`runs/${runId}/feedback`, { score: next, ...(next === 0 && texts) });
    setScore(next);
    onGiven?.();
  };
  const rate = async (next: number) => {
    await give(next);
    setOpen(next === 0);
  };
  return (
    <>
      {[1, 0].map((value) => (
        <ActionButton key={value} class="plain small" pressed={score === value} action={() => rate(value)}>
          {t(value === 1 ? 'rating.good' : 'rating.bad')}
        </ActionButton>
      ))}
      {isOpen && (
        <div class="stack rating">
          <label>
            {t('rating.comment')}
            <textarea rows={2} value={comment} onInput={({ currentTarget }) => setComment(currentTarget.value)} />
          </label>
          <label>
            {t('rating.correction')}
            <textarea rows={3} value={correction} onInput={({ currentTarget }) => setCorrection(currentTarget.value)} />
          </label>
          <div class="row">
            <ActionButton class="primary" action={() => give(0).then(() => setOpen(false))}>
              {t('rating.send')}
            </ActionButton>
            <button type="button" onClick={() => setOpen(false)}>
              {t('cancel')}
            </button>
          </div>
        </div>
      )}
    </>
  );
}
