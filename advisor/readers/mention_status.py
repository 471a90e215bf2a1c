"""Does a document propose what it names? Denied, rejected, left off or about training it does not.

A negation stands close before the words, or a verb of refusal after them in the sentence; a label,
heading or column can mark a whole list; "we tried it" may be taken back by the next sentence.

Its negations are not those of status_forms.py: those govern a verb up to ten words on, these stand
up to four words before a name ("disabled", "instead of"), and a bare "no" is an answer to it.
"""

from __future__ import annotations

import re
from typing import Final

from advisor.prose.blocks import Block
from advisor.prose.refusals import is_dropped
from advisor.prose.sentences import Sentence

_BEFORE: Final = re.compile(
    r"\b(?:no|not|without|never|cannot|nor|neither|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t"
    r"|won['’]t|can['’]t|instead of|rather than|unlike|disabl(?:e[sd]?|ing)|avoid(?:s|ed|ing)?|non"
    r"|turn(?:s|ed|ing)? off|switch(?:es|ed|ing)? off|stop(?:s|ped)? using|lacks?|except(?: for)?"
    r"|exclud(?:es?|ing)|no longer|removed?|removes|dropped support for|gave up(?: on)?)"
    r"[\s`*_-]+(?:[\w'’./-]+[\s`*]+){0,4}[\w-]*$",
    re.IGNORECASE,
)
_PSEUDO: Final = re.compile(
    r"\b(?:not (?:only|just|merely)|no (?:special|extra|additional|need to|matter|calibration|loss"
    r"|quality|accuracy|other|longer \w+ than)|not (?:to mention|require)"
    r"|without (?:losing|loss|retraining|calibration|quality|any (?:loss|retraining)|changing))\b"
    r"[^.;]*$",
    re.IGNORECASE,
)
_DONE: Final = (
    r"(?:used|applied|planned|supported|available|enabled|needed|implemented|possible|done|included"
    r"|active|set|worth|on|part of|considered|recommended|touched|an option|in use|necessary"
    r"|compatible|allowed|required|ready)"
)
_AFTER: Final = re.compile(
    r"[^.;\n]{0,70}?(?:\b(?:(?:is|are|was|were|be|been|being|stays?|remains?|left|turned|switched)"
    rf"\s+(?:\w+\s+){{0,2}}?(?:off\b|disabled|rejected|unsupported|ruled out|untouched|abandoned"
    rf"|deprecated|postponed|left (?:for later|out)|never\s+{_DONE})"
    rf"|(?:is|are|was|were|has been|have been)(?:n['’]t|\s+not)\s+(?:\w+\s+){{0,2}}?{_DONE}"
    r"|(?:not|un)[ -]?supported|no longer|(?:does|do|did|will|can)(?:n['’]t| ?not)\s+"
    r"(?:\w+\s+)?(?:run|work|support|apply|exist|fit|help|pay|plan|use)"
    r"|support (?:was|is|has been) (?:removed|dropped)"
    r"|not (?:yet )?(?:implemented|supported|planned)"
    r"|(?:is|are) (?:on|enabled|active) by default(?=[^.;]{0,40}?nothing to gain))\b"
    r"|[=:]\s*[\"'`]?(?:false|off|none|no|null|disabled)\b)",
    re.IGNORECASE,
)
_GONE: Final = re.compile(
    r"[^.;\n]{0,40}?\b(?:was|were|has been|have been|are|is|got) (?:\w+ )?(?:removed|dropped)\b",
    re.IGNORECASE,
)
_TRIED: Final = re.compile(
    r"\b(?:tried|considered|evaluated|tested|looked at|experimented|thought about|proposed)\b",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"\b(?:dropped|abandon\w*|gave up|given up|reject\w*|revert\w*|rolled back|discard\w*"
    r"|ruled (?:it|them|this) out|did(?: not|n['’]t) (?:help|work|pay|make))\b",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"[\s\"'“*_>]*(?:no\b|not\b|never\b|don['’]t|nope|wrong|false|this is (?:wrong|not)"
    r"|that is (?:wrong|not)|it does(?: not|n['’]t))",
    re.IGNORECASE,
)
_TRAINING: Final = re.compile(
    r"\b(?:train(?:ed|ing|er)|pre-?train\w*|fine-?tun\w*|finetun\w*|epochs?|backward pass"
    r"|gradients?|optimi[sz]ers?|learning rate|qlora|lora (?:rank|alpha))\b",
    re.IGNORECASE,
)
_INFERENCE: Final = re.compile(
    r"\b(?:inference|serv(?:e|es|ed|ing)|decod\w+|generat\w+|deploy\w*|latency|tokens? per second"
    r"|tok/s|tpot|released|production)\b",
    re.IGNORECASE,
)
_ONLY_TRAINING: Final = frozenset(
    {"attention_kernel", "batch", "continuous_batching", "compile", "tensor_parallel",
     "pipeline_parallel", "data_parallel", "context_parallel", "expert_parallel", "cuda_graphs",
     "offload"}
)  # fmt: skip
"""Kinds that mean nothing for inference where a training run has them."""
_OTHER_MODEL: Final = re.compile(
    r"\b(?:vision (?:model|encoder|transformer|classifier|backbone)s?|image (?:classif\w+|models?"
    r"|generation|encoder)|convolution\w*|conv2d|cnns?|resnet\w*|mobilenet\w*|vits?\b|yolo\w*"
    r"|(?:stable |latent )?diffusion|text[- ]to[- ](?:image|speech)|speech|whisper|object detection"
    r"|segmentation)\b",
    re.IGNORECASE,
)
_LANGUAGE_MODEL: Final = re.compile(r"\b(?:llms?|language models?|llama|qwen|mistral)\b",
                                    re.IGNORECASE)  # fmt: skip


def is_denied(text: str, sentence: Sentence, start: int, end: int, *, act: bool = False) -> bool:
    """Whether the words around `text[start:end]` say that it is not so.

    `act`: the words themselves tell that a part is taken out, so that "removed" denies nothing.
    """
    before = text[max(sentence.start, start - 60) : start]
    if _BEFORE.search(before) and not _PSEUDO.search(before):
        return True
    after = text[end : min(sentence.end, end + 110)]
    if _AFTER.match(after):
        return True
    return not act and _GONE.match(after) is not None


def is_taken_back(text: str, sentences: tuple[Sentence, ...], index: int, following: str) -> bool:
    """Whether a label, a question or the next sentence takes away what a sentence names."""
    sentence = sentences[index]
    after = sentences[index + 1].text if index + 1 < len(sentences) else ""
    if is_dropped(text) or is_dropped(sentence.text):
        return True
    if sentence.is_question:
        answer = after or following
        return not answer or _NO.match(answer) is not None
    if index and sentences[index - 1].is_question and _NO.match(sentence.text):
        return True
    return bool(_TRIED.search(sentence.text) and _TAKEN_BACK.search(after))


def is_answered_no(block: Block, following: Block | None) -> bool:
    """Whether the reply to a quotation says no."""
    if not block.quoted or following is None or following.quoted:
        return False
    return _NO.match(following.text) is not None


def is_other_model(block: Block, sentence: Sentence) -> bool:
    """Whether images or sounds are meant, where all the rest is about language models."""
    here = f"{' '.join(block.headings[-1:])} {sentence.text}"
    return _OTHER_MODEL.search(here) is not None and _LANGUAGE_MODEL.search(here) is None


def is_training(kind: str, block: Block, sentence: Sentence) -> bool:
    """Whether a lever belongs to a training run, in which it does nothing for inference."""
    if kind not in _ONLY_TRAINING:
        return False
    if _TRAINING.search(sentence.text):
        return _INFERENCE.search(sentence.text) is None
    title = block.headings[-1] if block.headings else ""
    about = _TRAINING.search(title) is not None and _INFERENCE.search(title) is None
    return about and _INFERENCE.search(sentence.text) is None
