"""What a learner wrote stays text: in the autograded notebook, in the Formgrader, in the feedback.

nbconvert puts the HTML of outputs and of Markdown into a page as it is. The Formgrader's page has the
instructor's rights on the Jupyter server, so a submission could grade itself, and its neighbours, when
somebody looks at it.

    markdown      a learner's Markdown as HTML that can only be read
    outputs       of what a cell put out: text, and pictures made of pixels
    pictures      which ones those are
    preprocessor  does both, after the points are known
    files         of what was handed in, regular files only are copied
"""
