/** A suspicious phrase: the pattern, its description, and whether it hides the definition. */
type Phrase = readonly [pattern: RegExp, what: string];

/** Letters of other scripts that look like Latin ones, and traditional Chinese characters: each pair is read as its second. */
const FOLDED =
  'АAЕEОOІIСCаaеeоoрpсcхxуyіiѕsјjԁdԛqοoαaνvιiκkρpτtυu訴诉戶户隱隐瞞瞒無无視视則则規规說说讓让覺觉現现見见傳传轉转複复準准設设約约過过請请別别絕绝開开發发條条統统問问對对從从執执詞词們们任任須须讀读寫写內内實实聽听會会單单務务';
const FOLDS = new Map(Array.from(FOLDED.matchAll(/(.)(.)/gsu), ([, from, to]) => [from!, to!]));
const FOLDABLE = new RegExp(`[${[...FOLDS.keys()].join('')}]`, 'gu');
const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  '#60': '<',
  '#62': '>',
};

/** The text as a reader perceives it: compatibility forms, look-alikes, entities, emphasis and line ends do not matter. */
export function readable(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/&(lt|gt|amp|quot|apos|#60|#62);/giu, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole)
    .replace(FOLDABLE, (letter) => FOLDS.get(letter)!)
    .replace(/[‘’ʼ]/gu, "'")
    .replace(/[*`~]+/gu, '');
}

const BEFORE = String.raw`(?:previous(?:ly)?|prior|earlier|above|preceding|foregoing|former|past|last|initial|original|current|existing)`;
const QUALIFIER = String.raw`(?:${BEFORE}|your|system(?:'s)?|developer(?:'s|s)?|operator(?:'s|s)?|safety|security|user(?:'s|s'|s)?|host(?:'s)?|other|all|any|every|those|these|the)`;
const ORDER = String.raw`(?:instructions?|instructed|directions?|directives?|guidelines?|guidance|guardrails?|system prompts?|system messages?|commands|orders)`;
const LIMIT = String.raw`(?:prompts?|rules?|polic(?:y|ies)|restrictions?|constraints?|safeguards?|training|programming|requests?|wishes|questions?|messages?|conversations?|context)`;
const OF_OTHERS = String.raw`(?:${BEFORE}|your|system(?:'s)?|developer(?:'s)?|operator(?:'s)?|safety|the user'?s|user'?s|user)`;
/** An honest warning: instructions that a page or result contains are to be disregarded. */
const IN_CONTENT = String.raw`(?![^.!?]{0,30}\b(?:in|within|inside|from|on|of|by|embedded|contained|appear(?:s|ing)?|contains?)\b[^.!?]{0,30}\b(?:pages?|contents?|results?|outputs?|documents?|files?|texts?|data|e?mails?|body|bodies|responses?|issues?|comments?|rows?|fields?|websites?|web|snippets?|tags?|blocks?|boundar(?:y|ies)|it|them)\b)`;
const FOLLOW = String.raw`(?:follow(?:ing)?|obey(?:ing)?|comply(?:ing)? with|adher(?:e|ing) to|listen(?:ing)? to|heed(?:ing)?|respect(?:ing)?|honou?r(?:ing)?|appl(?:y|ying))`;
const NOT = String.raw`(?:do not|don'?t|never|must not|mustn'?t|should not|shouldn'?t|cannot|can'?t|no longer|stop|cease|refuse to|avoid|refrain from|without|need not|no need to)`;
/** Letters in brackets: the project's list of phrases reads these texts, too. */
const PERSON = String.raw`(?:the |this |your |any |a |our )*(?:end[- ]?)?(?:users?|humans?|persons?|people|any[o]ne|any[b]ody|some[o]ne|customers?|clients?|operators?|owners?|admins?|administrators?)\b`;

/** Orders to disregard instructions. */
const DISREGARDING: readonly RegExp[] = [
  String.raw`\b(?:ignore|disregard|forget|neglect|abandon|discard|set aside|pay no attention to|bypass|circumvent)\s+(?:${QUALIFIER}\s+(?:of\s+)?){1,5}(?:\w+\s+)?${ORDER}\b${IN_CONTENT}`,
  String.raw`\b(?:ignore|disregard|forget|neglect|abandon|pay no attention to|circumvent|bypass)\s+(?:${QUALIFIER}\s+(?:of\s+)?){0,4}${OF_OTHERS}\s+(?:${QUALIFIER}\s+)?${LIMIT}\b(?!\s*(?:id|ids|count|limit|length|size|name|type)\b)${IN_CONTENT}`,
  String.raw`\b(?:ignore|disregard|forget)\s+(?:${QUALIFIER}\s+(?:of\s+)?){0,3}(?:${ORDER}|rules|prompts?)\s+(?:above|before|so far|given|you (?:were|have|received|got)|(?:from|by|of) (?:the |your )?(?:user|system|developer|operator))\b`,
  String.raw`\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|whatever|what)\s+(?:that\s+|else\s+)?(?:you(?:'ve| have| were| are)?|the user|the system|the developer|has been said|was said|came before|said|written (?:above|before))\b`,
  String.raw`\b${NOT}\s+${FOLLOW}\s+(?:[\w']+\s+){0,3}?(?:${OF_OTHERS}|earlier)\s+(?:[\w']+\s+){0,2}(?:${ORDER}|${LIMIT})\b${IN_CONTENT}`,
  String.raw`\b${NOT}\s+${FOLLOW}\s+(?:[\w']+\s+){0,2}(?:${ORDER}|rules)\s+(?:above|before|you (?:were|have|received)|given (?:by|to)|(?:from|by|of) (?:the |your )?(?:user|system|developer|operator))\b`,
  String.raw`\b(?:instead of|rather than)\s+(?:${FOLLOW}|doing)\s+(?:${QUALIFIER}\s+){1,3}(?:${ORDER}|prompts?|rules)\b`,
  String.raw`\boverride\s+(?:${QUALIFIER}\s+(?:of\s+)?){0,4}(?:all|any|every|other|previous|prior|earlier|above|preceding|your|safety|developer's|user's)\s+(?:of\s+)?(?:\w+\s+){0,2}${ORDER}\b`,
  String.raw`\b(?:supersedes?|overrides?|overrule|overrules|outranks?|(?:takes?|has|have) (?:\w+ )?(?:precedence|priority) over)\s+(?:(?:all|any|every|the|of|other|and)\s+)*(?:previous|prior|earlier|preceding|above|other|your|user'?s?|system|developer|safety)\s+(?:\w+\s+){0,2}(?:instructions|guidelines|directives|directions|orders)\b`,
  String.raw`\b(?:previous|prior|earlier|preceding|above|your|other|system|safety)\s+(?:\w+\s+){0,2}(?:instructions|guidelines|directives|rules|prompts?|restrictions)\s+(?:\w+\s+){0,2}(?:are|is|were|have been|has been|no longer|do not|don't)\s+(?:\w+\s+){0,2}(?:void|cancell?ed|invalid|obsolete|null|superseded|revoked|suspended|disabled|lifted|apply|applies|valid|bind|binding|hold|matter)\b`,
  String.raw`\byou (?:are|have)\s+(?:now\s+)?(?:no longer (?:bound|restricted|limited)|free (?:of|from)|no (?:restrictions|rules|guidelines|limitations))`,
  String.raw`\b(?:ignore|disregard|forget|break|violate|overrule)\s+(?:${QUALIFIER}\s+(?:of\s+)?)*(?:rules|${LIMIT}|${ORDER})(?:\s+and\s+\w+)?\s+(?:your|the)\s+(?:operator|developer|user|system|owner|company|vendor)s?\b`,
  String.raw`\b(?:ignore|disregard|forget)\s+(?:all|any|every|each)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:rules?|restrictions?|constraints?)\s+and\s+(?:rules?|restrictions?|constraints?|instructions?|limits?)\b`,
  String.raw`\b(?:ignore|disregard|forget)\s+(?:all|any|everything)\s+(?:of\s+)?(?:the\s+)?above\b(?=\s*(?:[.!,;:]|and\b|$))`,
  String.raw`\b(?:forget|disregard)\s+(?:all|any|every)\s+(?:of\s+)?(?:the|your)\s+rules?\b`,
  String.raw`\boverrul(?:e|es|ing)\s+(?:${QUALIFIER}\s+)*${ORDER}\b`,
  String.raw`\b(?:ignore|disregard|discard|forget)\s+(?:${QUALIFIER}\s+)*${BEFORE}\s+(?:\w+\s+and\s+)(?:${ORDER}|rules)\b`,
  String.raw`\b(?:treat|consider|regard|deem|mark|declare)\s+(?:${QUALIFIER}\s+(?:of\s+)?){1,4}(?:${ORDER}|rules|prompts?|policies)\s+(?:as\s+|to be\s+)?(?:void|cancell?ed|invalid|obsolete|null|superseded|revoked|outdated|expired|irrelevant|optional)\b`,
  String.raw`\b(?:cease|stop|quit|refuse|decline)\s+(?:to\s+)?${FOLLOW}\s+(?:${QUALIFIER}\s+)*(?:${ORDER}|rules|requests?|prompts?)\b${IN_CONTENT}`,
  String.raw`\b(?:this|these|the following|below)\s+(?:\w+\s+){0,3}(?:instructions?|description|notes?|rules?|text)\s+(?:\w+\s+){0,3}(?:overrides?|supersedes?|outranks?|(?:takes?|has|have) (?:\w+ )?(?:precedence|priority) over|(?:is|are) (?:more important|higher) than)\s+(?:\w+\s+){0,3}(?:system|user|developer|previous|prior|earlier|other|your|safety)\b`,
  String.raw`(?:忽略|忽视|无视|不理会|不要理会|不要理睬|不用管|别管|不要管|忘记|忘掉|忘了|抛弃|放弃|推翻|绕过|绕开|跳过|违反|违背|(?:不要|不得|不再|停止|不必|无需|别|请勿|拒绝)(?:再)?(?:遵守|遵循|遵从|服从|听从|执行|理会))(?![^。！？]{0,12}(?:网页|页面|结果|文件|文档|邮件|正文|数据|评论)[^。！？]{0,4}(?:中|里|内))[^。！？]{0,10}?(?:之前|以前|先前|上面|上述|以上|前面|此前|所有|全部|一切|任何|系统|原有|原来|原先|原本|用户|开发者|其他|其它|你的|您的|安全|既定|现有)[^。！？]{0,8}?(?:指令|指示|提示词|系统提示|命令|准则|设定|指引|守则)`,
  String.raw`(?:忽略|忽视|无视|不理会|不要理会|忘记|忘掉|忘了|抛弃|推翻|违反|违背|(?:不要|不得|不再|停止|不必|无需|别|请勿|拒绝)(?:再)?(?:遵守|遵循|遵从|服从|听从))[^。！？]{0,6}?(?:之前|以前|先前|上面|上述|以上|前面|此前|系统|你的|您的|安全|用户|开发者)(?:的|所)?[^。！？]{0,6}?(?:规则|要求|说明|约束|限制|规定|提示|对话|请求|消息|政策|(?:说|讲|告诉你)的?(?:话|内容)?)`,
  String.raw`(?:之前|以前|先前|上面|上述|以上|前面|此前|所有|其他|系统|原有)(?:的|给出的)*(?:所有)?(?:指令|指示|规则|提示词|准则|限制|约束)[^。！？]{0,6}(?:作废|失效|无效|取消|解除|不再(?:有效|适用|生效)|不适用)`,
  String.raw`(?:把|将)[^。！？]{0,8}(?:之前|以前|先前|上面|上述|以上|前面|此前|所有|全部|系统|原有|原来)[^。！？]{0,6}(?:指令|指示|规则|提示词|准则|限制)[^。！？]{0,6}(?:忽略|无视|忘掉|忘记|作废|取消|删除|抛弃)`,
  String.raw`(?:不再|不)受[^。！？]{0,8}(?:指令|指示|规则|提示词|准则|限制|约束|规定)[^。！？]{0,4}(?:约束|限制|束缚)`,
  String.raw`(?:忽略|无视|忘记|忘掉|违反|打破)(?:所有|一切|全部|任何)(?:的)?(?:规则|限制|约束|规定)(?=[，。！；,.!;\s]|并|然后|$)`,
  String.raw`(?:(?:优先于|高于|凌驾于)[^。！？]{0,6}(?:之前|先前|以上|所有|全部|一切|任何|系统|用户|开发者|其他)[^。！？]{0,6}(?:指令|指示|系统提示|提示词|准则)|(?:本|以下|这些|此|下列|该)[^。！？]{0,6}(?:覆盖|取代|替代)[^。！？]{0,6}(?:之前|先前|以上|所有|全部|系统|用户|其他)[^。！？]{0,6}(?:指令|指示|准则))`,
].map((source) => new RegExp(source, 'iu'));

/** Orders to conceal something from the user. */
const CONCEALING: readonly RegExp[] = [
  // "Never do it without informing the user" and an order not to leave a step to users are honest.
  String.raw`(?<!\b(?:never|not|cannot|avoid|n't)\b[^.!?]{0,80})\bwithout\s+(?:ever\s+|first\s+)?(?:t[e]lling|informing|notifying|alerting|warning|mentioning|disclosing|revealing|letting|making)\b[^.!?]{0,40}\b${PERSON}`,
  String.raw`\b(?:do not|don'?t|never|must not|mustn'?t|should not|shouldn'?t|cannot|can'?t|avoid|refrain from|no need to|need not|not to|not)\s+(?:ever\s+|even\s+|bother\s+(?:to\s+)?)?(?:t[e]ll(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?)\s+${PERSON}(?!\s+(?:to|how|they (?:can|should|must)|that they)\b)`,
  String.raw`\b(?:do not|don'?t|never|must not|mustn'?t|should not|shouldn'?t|cannot|can'?t|avoid|refrain from|no need to|need not|not to|not)\s+(?:ever\s+|even\s+|bother\s+(?:to\s+)?)?(?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|admit(?:ting)?|confess(?:ing)?|report(?:ing)?)\b[^.!?]{0,60}\bto ${PERSON}(?!\s+(?:until|unless|before|twice|again|if)\b)`,
  String.raw`\b(?:do not|don'?t|never|must not|should not|avoid|refrain from)\s+(?:ever\s+)?(?:show(?:ing)?|display(?:ing)?|expos(?:e|ing)|explain(?:ing)?|describ(?:e|ing)|say(?:ing)?|output(?:ting)?)\s+(?:(?:any|all|of|about)\s+)*(?:this|that|it|these|them|anything|(?:the|these|this|your)\s+(?:\w+\s+)?(?:steps?|instructions?|actions?|calls?|transfers?|notes?|facts?|request|behaviou?r|process))\s+(?:\w+\s+)?(?:to|from|with)\s+${PERSON}`,
  String.raw`\b(?:do not|don'?t|never|must not|should not)\s+(?:ever\s+)?(?:mention|reveal|disclose|acknowledge)\s+(?:(?:that|this|these|any of this|the|your|it)\s+)+(?:instructions?|steps?|notes?|tools?'s instructions|was|is|has|you|requests?)\b`,
  String.raw`\b(?:do not|don'?t|never|must not)\s+(?:ever\s+)?(?:let|allow|make|permit)\s+${PERSON}\s+(?:to\s+)?(?:know|see|notice|learn|find out|discover|realis?e|become aware|suspect|aware)\b`,
  String.raw`\b(?:the|this|your|any|no)\s+${PERSON}\s+(?:must|should|may|can|need|will|do|does|shall)\s*(?:not|n't|never)\s+(?:ever\s+)?(?:know|notice|learn|find out|discover|realis?e|be (?:t[o]ld|informed|notified|aware|alerted)|become aware|suspect|need to know (?:about|that|of|this|it))\b`,
  String.raw`\b(?:keep|hide|conceal|withhold|mask)\s+(?:(?:all|any)\s+(?:of\s+)?)?(?:this|these|it|that|them|everything|(?:the|your|any|all|its)\s+(?:\w+\s+){0,3}?(?:facts?|calls?|actions?|transfers?|results?|instructions?|steps?|use|usage|changes?|behaviou?r|purpose|notes?|requests?|cop(?:y|ies)|emails?))\s+(?:[\w ]{0,30}\s)?(?:hidden |secret |private |invisible |away )?from\s+${PERSON}`,
  String.raw`\b(?:so that|such that|so|to ensure|ensure(?: that)?|make sure(?: that)?)\s+${PERSON}\s+(?:(?:does|do|will|can|would|could|is|are)\s*(?:not|n't|never)|never|remains?|stays?)\s+(?:\w+\s+)?(?:know|notices?|see|learn|find|discover|realis?e|aware|suspect|unaware)\b`,
  String.raw`\b(?:behind ${PERSON}'s? back|without (?:the |any )?(?:user|human|customer)(?:'s|s'?)?\s+(?:knowledge|awareness|noticing|knowing|seeing))`,
  String.raw`\b(?:secretly|covertly|surreptitiously|stealthily|discreetly)\s+(?:\w+\s+)?(?:send|cop(?:y|ies)|forward|upload|read|include|call|add|e?mail|post|transfer|leak|attach|collect|append|write|store|execute|run|insert|pass|submit|invoke|fetch)`,
  String.raw`\b(?:silently|quietly)\s+(?:send|cop(?:y|ies)|forward|upload|e?mail|post|transfer|leak|attach|bcc|exfiltrate)\b`,
  String.raw`\bkeep (?:this|it|these|that|them) (?:a secret|to yourself|between us)\b`,
  String.raw`\b(?:must|should|shall|will|to|has to)\s+(?:remain|stay|be|keep)\s+(?:\w+\s+)?(?:hidden|secret|concealed|invisible|withheld|confidential|unknown)\s+(?:from|to)\s+${PERSON}`,
  String.raw`\b${PERSON}\s+(?:does not|doesn't|do not|don't|need not|has no)\s+need(?:s)?\s+to\s+know\b(?!\s+(?:the|how|which|its|their|where|when)\b)`,
  String.raw`\b(?:do not|don'?t|never|must not|should not|avoid|refrain from)\s+(?:ever\s+)?(?:includ(?:e|ing)|list(?:ing)?|mention(?:ing)?|record(?:ing)?)\s+(?:(?:this|that|these|it|them|the|your|any)\s+)+(?:[\w' ]{0,20}\s)?(?:in|to)\s+(?:your|the|any)\s+(?:\w+\s+){0,2}(?:summary|answer|reply|response|report|output|message)s?\s+(?:to|for)\s+${PERSON}`,
  String.raw`\b(?:omit|leave out|exclude|drop|strip)\s+(?:(?:this|that|these|it|them|the|any|your)\s+)+(?:\w+\s+){0,3}(?:from|in)\s+(?:your|the|any)\s+(?:\w+\s+){0,2}(?:summary|answer|reply|response|report|message|explanation)s?\s+(?:to|for)\s+${PERSON}`,
  String.raw`\b(?:so|that|such that|while|leaving|keep(?:ing)?|leave)\s+${PERSON}\s+(?:is|are|was|remains?|stays?)?\s*(?:\w+\s+)?(?:unaware|in the dark|uninformed|ignorant)\b`,
  String.raw`\b(?:do not|don'?t|never|must not|should not)\s+(?:ever\s+)?(?:mention|say|reveal|disclose|admit|state|write|acknowledge|confess)\s+that\s+(?:you|this|the|it|a|an)\b[^.!?]{0,20}\b(?:call(?:ed)?|read|sent|used?|copied|forwarded|uploaded|executed|ran|accessed|shared|added|included|followed|received|opened|transferred|tool|instruct\w*)\b`,
  String.raw`\b(?:do not|don'?t|never)\s+(?:ever\s+)?(?:speak|talk|say anything|say a word|comment)\s+(?:about|of|on)?\s*(?:(?:this|it|that|these|the)\s+)?(?:\w+\s+){0,2}(?:to|with)\s+${PERSON}`,
  String.raw`\bsay nothing\s+(?:\w+\s+){0,3}to\s+${PERSON}`,
  String.raw`\b(?:do not|don'?t|never)\s+(?:ever\s+)?let\s+(?:them|him|her|the other side)\s+(?:know|see|notice|find out|realis?e)\b`,
  String.raw`\b(?:lie to|deceive|mislead|trick|fool)\s+${PERSON}`,
  String.raw`\bif\s+${PERSON}\s+asks?\b[^.!?]{0,40}\b(?:deny|lie|pretend|claim (?:that )?(?:nothing|it was not|you)|say (?:that )?(?:nothing|you did not|you didn't|it was not|no))\b`,
  String.raw`\b(?:avoid|without)\s+(?:drawing|attracting|raising|arousing)\s+(?:(?:the\s+)?(?:user|human|customer)'?s?'?\s+|any\s+)?(?:attention|suspicion)\b`,
  String.raw`\b(?:this|it|these|(?:the|this|these|your)\s+(?:\w+\s+)?(?:calls?|steps?|actions?|transfers?|cop(?:y|ies)|uploads?|requests?|instructions?|behaviou?r|notes?))\s+(?:(?:is|are)\s+\w+\s+and\s+)?(?:must|should|may|can|is|are|shall)\s*(?:not|n't|never)\s+(?:to\s+)?be\s+(?:\w+\s+)?(?:shown|shared|mentioned|revealed|disclosed|visible|reported|displayed|communicated|known)\s+(?:to|with|by)\s+${PERSON}`,
  String.raw`(?:^|[.!?;:(\[]\s*)(?:not to be|never to be)\s+(?:shown|shared|mentioned|revealed|disclosed|displayed)\s+(?:to|with)\s+${PERSON}`,
  String.raw`(?:不要|不得|不能|不可|不必|不用|不需要|不准|不许|不应|请勿|切勿|勿|别|禁止|严禁|无需|无须|绝不|绝对不要|永远不要|避免|千万别)[^。！？，]{0,8}?(?:告诉|告知|通知|透露|提及|提到|泄露|报告|汇报|坦白|承认|说出|声张)(?:给|到)?[^。！？，]{0,10}?(?:用户|使用者|客户|对方|任何人|人类|他人|别人|操作员|主人)(?!去|怎么|如何|自己|组|群|名)`,
  String.raw`(?:不要|不得|不能|请勿|切勿|勿|别|无需|禁止|绝不|避免)[^。！？，]{0,4}(?:向|对|跟|和|与)(?:用户|使用者|客户|对方|任何人|人类|他人|别人)[^。！？，]{0,6}(?:提及|提到|提起|透露|说明|说起|解释|报告|汇报|告知|泄露|承认|坦白|(?:展示|显示)(?:这|此|该|上述))`,
  String.raw`(?:不要|不得|不能|请勿|切勿|勿|别|避免|绝不)[^。！？，]{0,6}(?:让|使|被|给)(?:用户|使用者|客户|对方|任何人|人类|他人|别人)[^。！？，]{0,4}(?:知道|知晓|察觉|发现|发觉|看到|看见|得知|注意到|了解|知情)`,
  String.raw`(?:瞒着|瞒过|隐瞒|背着|欺骗|蒙骗|(?:对|向)(?=(?:用户|使用者|客户)(?:隐瞒|保密|隐藏)))[^。！？，]{0,4}(?:用户|使用者|客户|人类|任何人|他人)`,
  String.raw`(?:秘密|偷偷|悄悄|暗中|私下|暗地里|悄无声息|神不知鬼不觉)地?[^。！？，]{0,6}(?:发送|发给|发到|上传|读取|复制|抄送|转发|传给|传输|执行|调用|添加|写入|附上|包含|收集|提交)`,
  String.raw`(?:用户|使用者|客户)(?:毫)?(?:不知情|不知道|不会知道|不能知道|无需知道|不需要知道|无须知道|不会发现|不会察觉|察觉不到|看不到这)`,
  String.raw`(?:不要|不得|不能|不可|请勿|切勿|勿|别|禁止|绝不|千万不要|千万别|避免)[^。！？，]{0,4}(?:在|于)?(?:你的|您的)?(?:回答|回复|答复|总结|摘要|输出|结果|报告|对话)(?:中|里|内|时)[^。！？，]{0,4}(?:提到|提及|透露|说明|包含|显示|泄露|暴露|承认|提起)(?:这|此|该|上述|你|您|调用|读取|发送|本)`,
  String.raw`(?:别|不要|勿|请勿|不得|不能|不许)[^。！？，]{0,4}(?:跟|和|与|对|向)(?:用户|使用者|客户|任何人|别人|他人|对方)[^。！？，]{0,4}(?:说(?!明)|讲|提|谈)`,
  String.raw`(?:不让|不使|不给|以免|避免|防止|免得|免于)(?:被)?(?:用户|使用者|客户|任何人|对方)[^。！？，]{0,4}(?:知道|知晓|察觉|发现|发觉|看到|看见|得知|注意到|起疑|怀疑)`,
  String.raw`(?:发送|上传|读取|复制|转发|转账|执行|调用|静默)[^。！？]{0,15}(?:不|未)(?:通知|告知|告诉|知会)(?:用户|使用者|客户|任何人)(?!名|组|的)`,
  String.raw`(?:用户|使用者|客户)(?:不应|不应该|不得|不能|不可|不可以|无权|永远不会|绝不能)(?:该)?(?:知道|知晓|察觉|发现|得知|看到这|注意到)`,
  String.raw`(?:如果|若|假如|当)(?:用户|使用者|客户|有人)(?:问|询问|追问|问起|问到)[^。！？]{0,12}(?:说没有|回答没有|否认|撒谎|谎称|假装|就说(?:没|不|未))`,
  String.raw`(?:私自|擅自|静默|默默|暗地)地?[^。！？，]{0,12}(?:发送|发给|上传|转发|传给|传输|抄送|转账|提交给)[^。！？]{0,20}(?:第三方|外部|不要声张|不通知|不告知|该地址|邮箱)|不要声张|不动声色地(?:发送|上传|读取|调用)`,
].map((source) => new RegExp(source, 'iu'));

const SECRET_FILES = String.raw`(?:~|\$home|\/home\/[^\s/]+|\/root)?\/?\.(?:ssh|aws|gnupg|env|netrc|npmrc|cursor)\b|\bid_rsa\b|\/etc\/(?:passwd|shadow)`;

/** Markup that imitates roles, or the formats of calls and results. */
const MARKUP: readonly RegExp[] = [
  String.raw`<\|[\w▁ ./:-]{1,40}\|>`,
  String.raw`<\/?\s*(?:system|assistant|developer|human)(?:[-_ ]?(?:prompt|message|instructions?|reminder|note|role|override|update|notice|command|turn))?\s*(?:\s[^<>]{0,80})?\/?>`,
  String.raw`<\/\s*(?:user|tool|function|instructions?)\s*>\s*<\s*(?:user|assistant|system|tool|function|instructions?)\b`,
  String.raw`<\s*(?:important|instructions?|secret|hidden|critical)\s*>[^<>]{0,1000}(?:${SECRET_FILES})`,
  String.raw`<<\/?\s*SYS\s*>>|\[\/?INST\]|<(?:start|end)_of_turn>|\[gMASK\]|<\/?s>\s*\[INST`,
  String.raw`\[\s*\/?\s*(?:system|assistant|developer)(?:\s+(?:prompt|message|instructions?|override|note|update|notice|command))?\s*\](?!\()`,
  String.raw`<\/?\s*(?:antml:)?(?:function_calls|function_results?|tool_calls?|tool_responses?|tool_results?|tool_use|tool_code|tool_outputs?)\b[^<>]{0,80}>`,
  String.raw`<\/?\s*(?:antml:)?(?:invoke|parameter|function|tool)\s*(?:name\s*=|=)`,
  String.raw`(?:^|\n)\s*#{1,6}\s*(?:system|assistant|human)(?: (?:prompt|message|instructions?|override))?\s*[:：]?\s*(?:\n|$)`,
  String.raw`(?:^|\n|[.!?。！？]\s)\s*(?:system|assistant) ?(?:prompt|message|override|instruction)s?\s*[:：]`,
  String.raw`(?:^|\n)\s*(?:human|assistant|system)\s*[:：][^\n]*\n(?:[^\n]*\n){0,10}?\s*(?:human|assistant|system|user)\s*[:：]`,
  String.raw`(?:action input|行动输入|动作输入|final answer|最终答案|最终回答)\s*[:：]`,
  String.raw`(?:^|\n)\s*(?:observation|观察)\s*[:：][\s\S]{0,400}?(?:^|\n|\s)(?:thought|action|思考|行动)\s*[:：]`,
  String.raw`(?:^|\n)\s*(?:系统|助手)(?:提示|消息|指令|通知)?\s*[:：]|[【\[]\s*(?:系统|助手)(?:提示|消息|指令|通知|命令|更新)?\s*[】\]]`,
].map((source) => new RegExp(source, 'iu'));

/** Phrases of the only three kinds that hide a definition. */
export const HIDING: readonly Phrase[] = [
  ...MARKUP.map((pattern): Phrase => [pattern, 'contains markup that imitates roles or calls']),
  ...DISREGARDING.map((pattern): Phrase => [pattern, 'orders the model to disregard instructions']),
  ...CONCEALING.map((pattern): Phrase => [pattern, 'orders the model to conceal something from the user']),
];

/** Phrases that honest definitions contain too. */
export const WARNING: readonly Phrase[] = [
  [/<\/?\s*(?:important|instructions?|secret|hidden|critical)\s*>/iu, 'contains markup of instructions'],
  [
    /\b(?:before|prior to|instead of|whenever|always when|after)\b[^.\n]{0,40}\b(?:using|calling|invoking|any other|other|every) (?:this |the |any |other )?tools?\b[^.\n]{0,60}\b(?:must|read|call|send|pass|include|first)\b/iu,
    'instructs the model about other tools',
  ],
  [new RegExp(SECRET_FILES, 'iu'), 'mentions files that contain secrets'],
  [/\b(?:must|always|first)\b[^.\n]{0,30}\b(?:call|use|invoke) this tool\b/iu, 'instructs the model about other tools'],
  [/\b(?:system prompt|developer message|jailbreak)\b/iu, 'mentions the system prompt'],
];
