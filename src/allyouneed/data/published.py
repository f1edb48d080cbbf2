"""Published data sets: the addresses and checksums of their files."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file: its name below the data set's address, and its checksum as `algorithm:hex`."""

    name: str
    checksum: str


@dataclass(frozen=True, slots=True)
class DataSet:
    """Files below one address. They are stored in a folder with the data set's name."""

    name: str
    address: str
    licence: str
    files: tuple[PublishedFile, ...]


def _multi30k() -> DataSet:
    """Elliott et al. 2016 and later: image captions in English, German and French.

    The publishers state no checksums. These are the MD5 sums of the same files in torchtext 0.9
    (for test_2018 in German and French: in sacrebleu 2.4). They detect a damaged transfer, but not
    a malicious change.
    """
    md5 = {
        "train.en": "0065d13af80720a55ca8153d126e6627",
        "train.de": "81ff90b99829c0cd4b1b587d394afd39",
        "train.fr": "6cb767741dcad3931f966fefbc05203f",
        "val.en": "2b69aa9253948ac9f67e94917272dd40",
        "val.de": "6e0e229eb049e3fc99a1ef02fb2d5f91",
        "val.fr": "93fc564584b7e5ba410c761ea5a1c682",
        "test_2016_flickr.en": "ff2c0fcb4893a13bd73414306bc250ae",
        "test_2016_flickr.de": "efd67d314d98489b716b145475101932",
        "test_2016_flickr.fr": "08dc7cd4a662f31718412de95ca9bfe3",
        "test_2017_flickr.en": "005396bac545d880abe6f00bbb7dbbb4",
        "test_2017_flickr.de": "6a8d5c87f6ae19e3d35681aa6fd16571",
        "test_2017_flickr.fr": "cb09af7d2b501f9112f2d6a59fa1360d",
        "test_2017_mscoco.en": "a7b684e0edbef1d4a23660c8e8e743fd",
        "test_2017_mscoco.de": "e8cd6ec2bc8a11fc846fa48a46e3d0bb",
        "test_2017_mscoco.fr": "4995d10954a804d3cdfd907b9fd093e8",
        "test_2018_flickr.en": "a152878809942757a55ce087073486b8",
        "test_2018_flickr.de": "87e00327083dd69feaa029a8f7c1a047",
        "test_2018_flickr.fr": "a64563e986438ed731a6713027c36bfd",
    }
    return DataSet(
        "multi30k",
        "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw",
        "research and education, non-commercial",
        tuple(PublishedFile(f"{name}.gz", f"md5:{value}") for name, value in md5.items()),
    )


DATA_SETS = {data_set.name: data_set for data_set in (_multi30k(),)}
