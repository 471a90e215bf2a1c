"""Levers that a decode step does not touch: files, slots, samplers, tokenizers, reserved windows.

Each has a regime in which it does count: weights that are paged in, a split over cards, a sampler
on the host, a smaller head. A text that names that regime is left alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from advisor.forms import Form

RESIDENT: Final = Form(
    r"\b(?:(?:fully|entirely|completely|all|whole|wholly|everything|complete|entire) (?:\w+"
    r" ){0,3}?(?:in|on|inside)"
    r" (?:the |its |my |our )?(?:[\w-]+['’]s )?(?:vram|hbm|gpu|card|(?:gpu |device "
    r"|video )?memory)|once (?:it is |they are"
    r" )?loaded"
    r"|(?:is|are|sits?|stays?|lives?|lies|remains?) (?:fully |entirely |completely )?(?:in|on)"
    r" (?:the )?"
    r"(?:vram|hbm|gpu|card)|no offload\w*|loaded (?:in|into|onto) (?:the )?(?:vram|hbm|gpu"
    r"|memory|card)"
    r"|every layer (?:\w+ )?(?:in|on) (?:the )?(?:vram|gpu|card)|(?:gpu|vram)[- ]resident"
    r"|holds? (?:the |your )?(?:complete|entire|whole)|fits? (?:\w+ )?(?:in|on|into) (?:the "
    r"|your )?(?:\w+ )?"
    r"(?:vram|hbm|gpu|card|memory|gb)|room to spare|steady[- ]state|start-?up|load(?:s|ed|ing)?\b"
    r"(?! (?:test|balanc))|cold start)\b"
)
"""Weights that lie in device memory, so that a step reads nothing from elsewhere."""
ELSEWHERE: Final = Form(
    r"\b(?:(?:does|do|did|would|could)(?: ?n[o'’]t| not) fit|too (?:big|large) (?:for|to)|spill\w*"
    r"|swap(?:s|ped|ping)?|paged?|paging|offload(?:s|ed|ing)|layers (?:on|to|in) (?:the )?(?:cpu"
    r"|ram|host|system)"
    r"|system ram|from (?:the )?(?:disk|ssd|nvme|drive|file) (?:for|on|at) (?:each|every)|larger"
    r" than (?:the )?"
    r"(?:ram|memory|vram)|experts (?:on|from|in) (?:the )?(?:disk|ssd|nvme|cpu|ram|host)"
    r"|ktransformers"
    r"|streamed from|prefetch\w*|(?:kv|k/v)[- ]?caches?\b[^.;]{0,40}? (?:from|to|into|in|on)"
    r" (?:the |an? )?(?:\w+ ){0,2}?(?:storage|disks?|ssds?|nvme|host|l[23]|dram|tiers?)"
    r"|unified memory|tensor[- ]parallel|\btp ?=?\d|(?:two|2|both|four|dual|three"
    r"|multi\w*)[- ]"
    r"(?:gpus?|cards?)|row split|kv (?:cache )?(?:offload|tier)|prefix cache|lmcache)\b"
)
"""Where storage or a slot does stand in the path of a token."""
_STORAGE: Final = Form(
    r"\b(?:nvme|ssds?|sata|hdds?|hard (?:disk|drive)|disks?|drives?|storage|m\.2|raid|nfs|lustre"
    r"|object store"
    r"|safetensors|pickle|\.bin|mmap\w*|memory[- ]map\w*|checkpoint format|file format|page"
    r" cache)\b"
)
_FORMAT: Final = Form(
    r"\b(?:safetensors|pickle|mmap\w*|memory[- ]map\w*|checkpoint format|file format)\b"
)
"""How a file is laid out, which is over once it is loaded."""
_SLOT: Final = Form(
    r"\bpcie?\b|\bpci(?:e|[- ]express)\b|\b(?:x1|x4|x8|x16)\b|\blanes?\b|\brisers?\b"
    r"|\bslots?\b(?! per)"
    r"|\boculink\b|\begpus?\b"
)
_SAMPLER: Final = Form(
    r"\btemperature\b|\btemp ?= ?0|\bgreedy\b|\btop[-_ ]?[kp]\b|\bmin[-_ ]p\b|\bsamplers?\b"
    r"|\b(?:repetition|repeat|presence|frequency)[-_ ]penalty\b|\bargmax\b|\bdo_sample\b"
)
SAMPLER_COUNTS: Final = Form(
    r"\b(?:on|to|from|off) (?:the )?(?:cpu|host|gpu)\b|\bpython\b|\blogits? processors?\b"
    r"|\bgrammars?\b"
    r"|\bguided\b|\bconstrain\w+\b|\bjson\b|\bschema\b|\bbeams?\b|\bdraft\w*|\bspeculat\w+"
    r"|\baccept\w*"
    r"|\bflashinfer\b|\b(?:0\.\d|[12]|1\.\d)b\b|\b(?:got|gets?|are|is|became|become)"
    r" (?:\w+ )?short(?:er)?\b|\bshorter (?:answers?|replies|output)"
    r"|\bfewer tokens\b|\bthinking\b|\bms (?:in|for|of) (?:the )?sampl|\b(?:gpu|cpu) temperature"
    r"|°|\bdegrees\b"
    r"|\bthrottl\w+|\bcool\w+|\bhot\b"
)
_HOST: Final = Form(
    r"\b(?:faster|newer|better|stronger|bigger|quicker|more|second|another|upgrad\w+|more modern"
    r"|from \w+ to) (?:\w+ ){0,3}?(?:cpus?|processors?|xeons?|epycs?|ryzens?|cpu cores"
    r"|(?:system |host |main )?(?:ram|ddr[345])|(?:host|system|main) memory)\b"
    r"|\b(?:cpu|host|ram|ddr[345]|processor) (?:upgrade|swap|update)\b"
)
"""Cores and memory of the host."""
_HOST_COUNTS: Final = Form(
    r"\b(?:(?:does|do|did|would|could)(?: ?n[o'’]t| not) fit|too (?:big|large) (?:for|to)|spill\w*"
    r"|swap(?:s|ped|ping)?|pag(?:ed|ing)|offload(?:s|ing)|(?:partly|partially|half|some|layers"
    r"|experts)\b[^.;]{0,24}? (?:on|to|in|from) (?:the )?(?:cpu|ram|host|system)|ktransformers"
    r"|unified memory|apu|igpu|cpu[- ]only|on (?:the |a )?cpu|launch\w*|overhead|python"
    r"|host[- ]bound"
    r"|cpu[- ]bound|scheduler|tokeni[sz]\w+|sampl\w+|(?:0\.\d|[1-4]|1\.\d)b|mini-?pc|moe"
    r"|tensor[- ]parallel|prefill|prompts?)\b"
)
"""Where the host works for a token, or small steps wait for its launches."""
_TOKENIZER: Final = Form(
    r"\btokeni[sz]ers?\b|\bvocab(?:ular(?:y|ies))?s?\b|\bbpe\b|\bsentencepiece\b"
)
_TOKENIZER_COUNTS: Final = Form(
    r"\bfewer tokens\b|\b(?:characters|chars|letters|words|bytes|text) (?:per|a|each) second\b"
    r"|\bsame text\b"
    r"|\b(?:answer|reply|text|page|document|essay|response)s? (?:is|are|gets?|comes?|finish\w*"
    r"|takes?)\b"
    r"|\bdetokeni\w+|\bbottleneck\b|\b(?:smaller|trim\w*|prun\w*|shr[iu]nk\w*|reduc\w+|cut\w*"
    r"|drop\w*|strip\w*)"
    r" (?:the |its |our |unused )?(?:\w+ )?(?:vocab|tokens|rows|head)|\blm[-_ ]?head\b"
    r"|\bembedding|\boutput layer\b"
    r"|\bprompts?\b|\bprefill\b|\bttft\b|\bfirst token\b|\bdraft\w*|\bspeculat\w+"
)
_WINDOW: Final = Form(
    r"\bn_ctx\b|\bnum_ctx\b|\bctx[-_ ]?size\b|\bmax[-_ ](?:model|seq\w*|context)[-_ ]len\w*"
    r"|\bcontext (?:window|limit|length|size)s?\b|\b(?:reserved|allocated|pre-?allocated"
    r"|configured) (?:\w+ )?"
    r"(?:cache|kv|context|window|memory|buffer|length)\b|\bmaximum context\b"
    r"|\btoken window\b|\bwindow (?:that|which) \w+ (?:allocates|reserves)\b"
)
_WINDOW_READ: Final = Form(
    r"\b(?:reserv\w+|allocat\w+|pre-?allocat\w+|configured|empty|unused|whole|entire|full"
    r"|all)\b[^.;]{0,40}?"
    r"\b(?:cache|kv|window|context|slots|positions|buffer|gb)\b[^.;]{0,24}? (?:is|are|gets?|get"
    r"|has to be|must be|being"
    r"|needs to be) (?:\w+ )?(?:read|streamed|scanned|loaded|fetched|swept|walked|touched|attended)"
    r"|\b(?:reads?|streams?|scans?|loads?|fetch(?:es)?|sweeps?|walks?|goes"
    r"|touch(?:es)?)\b[^.;]{0,16}?"
    r"\b(?:whole|entire|full|all|complete)\b[^.;]{0,32}?\b(?:reserv\w+|allocat\w+"
    r"|pre-?allocat\w+|window|configured)\b"
    r"|\bhalf as much (?:cache|kv) is read\b"
)
"""A window that is said to be read whole, filled or not."""
_WINDOW_COUNTS: Final = Form(
    r"\bspill\w*|\b(?:does|do|did|would|will)(?: ?n[o'’]t| not| no longer) fit|\bno longer"
    r" fits?\b|\bevict\w*"
    r"|\boffload\w*|\bsystem ram\b|\bswap\w*|\brope\b|\byarn\b|\bgraph\w*|\bstatic (?:kv )?cache\b"
    r"|\bpadd(?:ed|ing)\b|\bmask\w*|\bonly the tokens\b|\bfull conversation\b|\bbatch\w*"
    r"|\bconcurren\w+"
)


_BUDGET: Final = Form(
    r"\bmax[-_ ](?:new[-_ ])?tokens\b|\bn(?:um)?_predict\b|\bmax_output\w*"
    r"|\bmax_completion_tokens\b"
    r"|\bstop (?:sequences?|words?|strings?)\b|\b(?:shorter|briefer|terser) (?:answers|replies"
    r"|outputs?"
    r"|responses)\b|\b(?:answer|output|reply) length (?:limit|cap)\b"
)
"""How long an answer may become."""
_BUDGET_COUNTS: Final = Form(
    r"\b(?:requests? (?:end|finish|take|complete)\w*|end[- ]to[- ]end|whole|total|until (?:the|it)"
    r"|finish\w*|done|wait(?:s|ing)?|cut (?:off|short)|truncat\w*|context|cache|kv|batch\w*"
    r"|throughput|admit\w*|schedul\w*"
    r"|reserv\w*|concurren\w*|queue\w*|slots?|users|sooner|draft\w*|specul\w*|prefill|prompt\w*"
    r"|ttft|first|streams|parallel)\b"
)


class Beside(NamedTuple):
    """A lever that decode does not feel, and what is true of it."""

    named: Form
    counts: Form
    """The regime in which it does count."""
    needs_residence: bool
    """Whether the weights have to be said to lie in device memory."""
    told: str
    is_felt_when_less: bool = False
    """Whether a loss may be ascribed to less of it: fewer lanes."""


BESIDES: Final = (
    Beside(
        _STORAGE,
        ELSEWHERE,
        told="weights are read from storage once, when they are loaded; each token reads them from"
        " device memory: loading gets shorter, the time per token is 1.00x",
        needs_residence=True,
    ),
    Beside(
        _SLOT,
        ELSEWHERE,
        told="with all weights in the memory of one card a token sends some bytes over the slot:"
        " its lanes shorten loading, the time per token is 1.00x",
        needs_residence=True,
        is_felt_when_less=True,
    ),
    Beside(
        _SAMPLER,
        SAMPLER_COUNTS,
        told="the sampler works on one row of logits (0.5 MB at 128k tokens), some ten microseconds"
        " beside the milliseconds that reading the weights takes: settings of it are 1.00x",
        needs_residence=False,
    ),
    Beside(
        _HOST,
        _HOST_COUNTS,
        told="with all weights in the memory of the device a token is read from there: cores and"
        " memory of the host start kernels and load the file, the time per token is 1.00x",
        needs_residence=True,
    ),
    Beside(
        _TOKENIZER,
        _TOKENIZER_COUNTS,
        told="a step reads all weights whatever text its token stands for, and a larger vocabulary"
        " makes the head larger: fewer tokens for a text, the time per token is 1.00x at best",
        needs_residence=False,
    ),
    Beside(
        _BUDGET,
        _BUDGET_COUNTS,
        told="a limit on the length of an answer ends it sooner; each of its tokens reads the same"
        " bytes: the time per token is 1.00x",
        needs_residence=False,
    ),
)


_TRAINED: Final = Form(
    r"\b(?:distill\w*|students?|instruct (?:version|variant|model)s?|fine-?tun(?:e|es|ed|ing)"
    r"|(?:instruction|preference)[- ]?tun\w+"
    r"|rlhf|dpo|sft|post-?train\w+)\b"
)
_SAME_SIZE: Final = Form(
    r"\b(?:same|equal|identical|unchanged|retain\w*|keep(?:s|ing)?|teacher['’]s|of equal)\b"
    r"(?:[^.;:]|\.\d){0,40}?\b(?:size|parameters?|params|weights|shape|depth|architecture"
    r"|dimensions|width"
    r"|number of layers)\b|\b(?:size|parameters?|architecture|depth)\b[^.;:]{0,24}? (?:stays?"
    r"|remains?|(?:is|are) (?:the same|unchanged|identical|as))\b"
)
_OTHER_SHAPE: Final = Form(
    r"\b(?:fewer tokens|short(?:er|ly)?|concise\w*|brief\w*|terse|draft\w*|speculat\w*|accept\w*"
    r"|think\w*|reason\w*|quanti\w*|int[48]|fp[48]|[48][- ]bits?|prun\w*|diffusion"
    r"|vocabular\w*|gqa|mqa|mtp|medusa|eagle|heads?|early exit|experts?|steps?|smaller|half (?:the"
    r"|its|as many) (?:size|parameters|params|depth|layers|width)|fewer (?:layers|parameters"
    r"|blocks|weights)|multi-token)\b"
)
"""What else training may change: the length of answers, the shape, what drafts guess."""


def is_retrained(text: str) -> bool:
    """Whether weights are said to hold other values in the same shape, and nothing else."""
    if _TRAINED.search(text) is None or _OTHER_SHAPE.search(text) is not None:
        return False
    return _SAME_SIZE.search(text) is not None


def is_only_format(text: str) -> bool:
    """Whether it is only the layout of a file that a text changes."""
    return _FORMAT.search(text) is not None


def names_window(text: str) -> bool:
    """Whether a text names the context that is reserved, in no regime where it counts."""
    return _WINDOW.search(text) is not None and _WINDOW_COUNTS.search(text) is None


def reads_window(text: str) -> bool:
    """Whether a clause says that a reserved window is read whole."""
    return _WINDOW_READ.search(text) is not None
